// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The rarely used data of an operation, in a separate object so that most operations stay small.
final class RareState {
  var name: String?
  var qualityOfService = QualityOfService.default
  var threadPriority = Operation.defaultThreadPriority
  /// The queue priority that was set, if a subclass overrides the property with another value.
  var overruledPriority: Operation.QueuePriority?
  /// Whether a thread is reading an overridden queue priority, and whether it must read the
  /// priority once more.
  var readsPriority = false
  var readsPriorityAgain = false
  var completionBlock: (@Sendable () -> Void)?
  var observations: KeyValueObservations?
  /// The blocks of a block operation after the first block.
  var moreBlocks: [@Sendable () -> Void] = []
  /// The serial number that identifies the operation; 0 until it is first read. After that, it does
  /// not change. It is read without the lock.
  let identifier = Atomic<UInt64>(0)
  /// The record for a collector. Guarded by the queue's lock instead of the operation's.
  @exclusivity(unchecked) var record: OperationRecord?
  /// Whether an operation that has a record depends on this operation. The value never becomes
  /// `false` again, and no lock guards it.
  let isAwaited = Atomic<Bool>(false)
  /// The edges of the operation, except for the first dependency and the first dependent, as long as
  /// they are few; `nil` if there are none. The deinitializer of the operation frees the block.
  var edges: EdgeBlock?
  /// The dependencies after the first one, if they are many. In that case, ``edges`` contains no
  /// dependencies.
  var moreDependencies = EdgeList()
  /// The dependents after the first one, if they are many. In that case, ``edges`` contains no
  /// dependents. Their memory stays valid, but they are not kept alive; see ``DependencyLinks``.
  var moreDependents = EdgeList()
  /// The operations and queues that the operation's own code waits for at present, one for each
  /// waiting thread.
  var awaitedInside: [AwaitedInside] = []
  /// The error that was recorded before the finish.
  var error: (any Error)?
  /// Values that few operations have, so that the others need one word for all of them. The object is created under
  /// the lock and stays until the operation is deallocated, so it can be found without the lock.
  private let detailsReference = Atomic<Unmanaged<Details>?>(nil)
  /// The dependencies whose success this operation requires.
  var required: Set<ObjectIdentifier> = []
  /// The operations that require the success of this operation. Their memory stays valid, but they are not kept
  /// alive; see ``DependencyLinks``.
  var requirers = EdgeList()
  /// The members of the group that contains this operation; `nil` if no group contains it. The
  /// finish of this operation is reported to this object.
  var groupMembers: GroupMembers?
  /// The exclusions of the operation, which are resources that a limited number of operations may
  /// use at once.
  var exclusions: Set<MutualExclusion> = []
  /// Whether the operation has requested its exclusions, which do not change after that.
  var hasAskedForExclusions = false
  /// The tasks and groups that are woken when the operation is retired (has left its queue).
  /// Threads that wait for the operation are not listed, because they sleep on the status.
  var waiters: [ObjectIdentifier: any Waiter] = [:]

  private final class Details {
    var cancellationReason: (any Error)?
    var cancellationCause: CancellationCause?
    var causeHasReason = false
    var kind: String?
    /// The reports. The object stays until the operation is deallocated, so it can be found without the lock.
    let reportsReference = Atomic<Unmanaged<OperationReports>?>(nil)
    var runner: Operation?
    /// Whether `runner` exists. No lock guards this value.
    let hasRunner = Atomic<Bool>(false)
    var companion: (any AnyObject & Sendable)?
    var context: (any OperationContext)?
    var contextOfWork: (any OperationContext)?
    var escalation: PriorityEscalation?

    deinit { reportsReference.load(ordering: .acquiring)?.release() }
  }

  deinit { detailsReference.load(ordering: .acquiring)?.release() }

  private var details: Details? {
    detailsReference.load(ordering: .acquiring)?.takeUnretainedValue()
  }

  private func makeDetails() -> Details {
    if let details { return details }
    let new = Details()
    detailsReference.store(.passRetained(new), ordering: .releasing)
    return new
  }

  /// The reason why the operation was cancelled or is about to be cancelled.
  var cancellationReason: (any Error)? {
    get { details?.cancellationReason }
    set { makeDetails().cancellationReason = newValue }
  }

  /// What cancelled the operation, if a collector recorded at that time.
  var cancellationCause: CancellationCause? { details?.cancellationCause }

  /// Whether the reason was stored before the cause. Otherwise, the reason is of a later call.
  var causeHasReason: Bool { details?.causeHasReason ?? false }

  /// Stores what cancelled the operation, unless a cause is already stored.
  func noteCause(_ cause: CancellationCause) {
    let details = makeDetails()
    guard details.cancellationCause == nil else { return }
    details.cancellationCause = cause
    details.causeHasReason = details.cancellationReason != nil
  }

  /// The text that describes what the operation does; `nil` if it is the name of the class.
  var kind: String? {
    get { details?.kind }
    set { makeDetails().kind = newValue }
  }

  /// The progress and the status that the operation's code has reported; `nil` if there was no report.
  var reports: OperationReports? {
    details?.reportsReference.load(ordering: .acquiring)?.takeUnretainedValue()
  }

  /// Returns the reports, which are created at the first call.
  func makeReports() -> OperationReports {
    if let reports { return reports }
    let new = OperationReports()
    makeDetails().reportsReference.store(.passRetained(new), ordering: .releasing)
    return new
  }

  /// Calls a closure with the reports if they exist. No lock is needed, and nothing is retained.
  ///
  /// - Returns: Whether the reports exist, and whether a retry or timeout may run the operation.
  @inline(__always)
  func withExistingReports(_ body: (OperationReports) -> Void) -> (exist: Bool, hasRunner: Bool) {
    guard let details = detailsReference.load(ordering: .acquiring) else { return (false, false) }
    return details._withUnsafeGuaranteedRef { details in
      let reports = details.reportsReference.load(ordering: .acquiring)
      reports?._withUnsafeGuaranteedRef(body)
      return (reports != nil, details.hasRunner.load(ordering: .relaxed))
    }
  }

  /// The retry or timeout that runs this operation now, and that has its reports too.
  var runner: Operation? {
    get { details?.runner }
    set {
      makeDetails().runner = newValue
      makeDetails().hasRunner.store(newValue != nil, ordering: .relaxed)
    }
  }

  /// The object that another module of this package keeps with the operation.
  var companion: (any AnyObject & Sendable)? {
    get { details?.companion }
    set { makeDetails().companion = newValue }
  }

  /// Whether a context may be stored. This property can be read without the lock.
  var mayHaveContext: Bool { details != nil }

  /// Whether a waiting task may have raised the operation. This property can be read without the lock.
  var mayHaveEscalation: Bool { details != nil }

  /// How far waiting tasks have raised the operation; `nil` if none has.
  var escalation: PriorityEscalation? {
    get { details?.escalation }
    set { if newValue != nil || details != nil { makeDetails().escalation = newValue } }
  }

  /// The context that was captured for the work, until the work begins.
  var context: (any OperationContext)? {
    get { details?.context }
    set { makeDetails().context = newValue }
  }

  /// The context of the work while the work runs.
  var contextOfWork: (any OperationContext)? {
    get { details?.contextOfWork }
    set { if newValue != nil || details != nil { makeDetails().contextOfWork = newValue } }
  }

  /// Removes and returns the context that was captured for the work.
  func takeContext() -> (any OperationContext)? {
    guard let details else { return nil }
    return details.context.take()
  }

  /// Whether the rarely used data of an operation retains objects of the user, apart from
  /// dependencies.
  fileprivate var holdsUsersObjects: Bool {
    completionBlock != nil || observations != nil || !moreBlocks.isEmpty || error != nil
      || cancellationReason != nil || context != nil || contextOfWork != nil
  }
}

extension Operation {
  /// Applies one event to the status. If two threads apply events at the same time, the later event
  /// sees the effect of the earlier one.
  ///
  /// Values that were written before an event are visible to a thread that acts on its result. The
  /// accesses are sequentially consistent, because some threads read the lock after the event, and
  /// others read the status after they have acquired the lock. The failed exchange is sequentially
  /// consistent too, because it may be the last read of an event that changes nothing.
  @inline(__always) @discardableResult
  final func update<Result>(_ event: (inout OperationStatus) -> Result) -> Result {
    var old = status.load(ordering: .sequentiallyConsistent)
    while true {
      var new = old
      let result = event(&new)
      if new == old { return result }
      let (exchanged, original) = status.weakCompareExchange(
        expected: old, desired: new, successOrdering: .sequentiallyConsistent,
        failureOrdering: .sequentiallyConsistent)
      if exchanged { return result }
      old = original
    }
  }

  /// Reads the operation's `RareState`, which contains its rarely used data, under the lock. The
  /// body must only move values.
  @inline(__always)
  final func withRare<Result>(_ body: (RareState?) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(rare)
  }

  /// Changes the operation's `RareState`, which contains its rarely used data, under the lock.
  /// Creates this object if the operation has none.
  @inline(__always) @discardableResult
  final func makeRare<Result>(_ body: (RareState) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(rareLocked)
  }

  /// Whether the operation may have a ``record``. The value is `false` only if the operation has no
  /// record.
  @inline(__always)
  final var mayHaveRecord: Bool { extra.load(ordering: .relaxed).isRare }

  /// The object with the operation's rarely used data; `nil` if the operation has none. It can be
  /// read without the lock.
  final var rare: RareState? { extra.load(ordering: .acquiring).rare }

  /// The data about the operation that a monitor's collector reads. The queue's lock guards it. A
  /// thread that holds the queue's lock may acquire the operation's lock, but not the other way
  /// round.
  final var record: OperationRecord? {
    get { rare?.record }
    set { (rare ?? makeRare { $0 }).record = newValue }
  }

  /// The object with the operation's rarely used data. It is created if the operation has none.
  ///
  /// - Precondition: The caller holds the operation's lock.
  final var rareLocked: RareState {
    while true {
      let extra = extra.load(ordering: .acquiring)
      if let rare = extra.rare { return rare }
      let made = RareState()
      if let dependency = extra.dependency {
        made.edges = EdgeBlock()
        made.edges?.append(dependency: .passUnretained(dependency))
      } else if let dependent = extra.dependent {
        made.edges = EdgeBlock()
        made.edges?.append(dependent: dependent)
      } else {
        made.edges = extra.block
      }
      let new = OperationExtra(made)
      let (isExchanged, _) = self.extra.compareExchange(
        expected: extra, desired: new, ordering: .sequentiallyConsistent)
      // If the exchange succeeds, the new `RareState` has taken over the edges that were stored in
      // the word. If the exchange fails, the thread that finishes the operation has just removed the
      // dependent, and the loop repeats all steps without it.
      if isExchanged { return made }
      // The exchange fails only if the word contained a dependent. So the block is a new one.
      made.edges?.free()
      new.release()
    }
  }

  /// Whether the operation is a barrier of a queue. The flag is in the status and not in `place`,
  /// because threads that do not hold the queue's lock read the flag while other threads change
  /// `place`. The load is relaxed, because the flag was set before the operation was pushed, and
  /// does not change.
  @inline(__always)
  final var isBarrier: Bool { status.load(ordering: .relaxed).has(.barrier) }

  /// Whether the class of the operation is exactly `BlockOperation`, so that a queue can run its
  /// blocks without calling code of a subclass.
  @inline(__always)
  final var isExactlyBlockOperation: Bool { type(of: self) == BlockOperation.self }

  /// Whether the release of this operation releases no other object. This is true if the operation
  /// never had a dependency and has no `RareState`, the object for rarely used data.
  ///
  /// This property is read without the lock, although another thread that has a reference to the
  /// operation may add a dependency. In that case, the last reference to the operation is that
  /// thread's or the queue's.
  ///
  /// - Precondition: The operation has finished, so it has no dependents. Its class is exactly
  ///   `BlockOperation`.
  @inline(__always)
  final var isNothingButBlock: Bool {
    !status.load(ordering: .relaxed).has(.hasDependencies)
      && extra.load(ordering: .relaxed).isNothing
  }

  /// The kinds of objects that are released with an operation: none, its dependencies, or objects
  /// whose `deinit` may run code of the user.
  enum HeldObjects { case nothing, dependencies, usersObjects }

  /// The objects that the operation still retains. This property can be read under the lock of the
  /// operation's queue.
  ///
  /// - Precondition: The operation is retired.
  final var heldAfterRetirement: HeldObjects {
    // A subclass may have a `deinit`, and properties with a `deinit`.
    guard isExactlyBlockOperation else { return .usersObjects }
    let extra = extra.load(ordering: .acquiring)
    if extra.isRare, withRare({ $0?.holdsUsersObjects == true }) { return .usersObjects }
    return status.load(ordering: .relaxed).has(.hasDependencies) ? .dependencies : .nothing
  }
}
