// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Rarely used state, in a separate object so that most operations stay small.
final class RareState {
  var name: String?
  var qualityOfService = QualityOfService.default
  var threadPriority = Operation.defaultThreadPriority
  /// The queue priority that was set, if a subclass overrides the property with another one.
  var overruledPriority: Operation.QueuePriority?
  /// Whether a thread reads an overridden queue priority, and whether it must read once more.
  var readsPriority = false
  var readsPriorityAgain = false
  var completionBlock: (@Sendable () -> Void)?
  var observations: KeyValueObservations?
  /// The blocks of a block operation after the first.
  var moreBlocks: [@Sendable () -> Void] = []
  /// The number of the operation. It is assigned at the first read and does not change after that.
  /// It is read without the lock.
  let identifier = Atomic<UInt64>(0)
  /// The record for a collector. Guarded by the queue's lock instead of the operation's.
  @exclusivity(unchecked) var record: OperationRecord?
  /// Whether an operation that has a record depends on it. Never reset; not guarded by a lock.
  let isAwaited = Atomic<Bool>(false)
  /// The dependencies after the first, in order.
  var moreDependencies: [Operation] = []
  /// All dependencies, if there are many, so that adding another one stays cheap.
  var dependencySet: Set<ObjectIdentifier> = []
  /// The dependents after the first, unowned-retained.
  var moreDependents: [Unmanaged<Operation>] = []
  /// The current waits of its own code, once for each waiting thread.
  var awaitedInside: [AwaitedInside] = []
  /// The error, if it was recorded before the finish.
  var error: (any Error)?
  /// The reason why it is, or is about to be, cancelled.
  var cancellationReason: (any Error)?
  /// The dependencies whose success it requires.
  var required: Set<ObjectIdentifier> = []
  /// The operations that require its success, unowned-retained.
  var requirers: [Unmanaged<Operation>] = []
  /// The members of its group, which are notified of its finish.
  var groupMembers: GroupMembers?
  /// The exclusions that it shares with others.
  var exclusions: Set<MutualExclusion> = []
  /// Whether it has requested its exclusions, which do not change after that.
  var hasAskedForExclusions = false
  /// The waiters for its retirement, except for threads, which sleep on the status.
  var waiters: [ObjectIdentifier: any Waiter] = [:]

  /// Whether it retains objects of the user, apart from dependencies.
  fileprivate var holdsUsersObjects: Bool {
    completionBlock != nil || observations != nil || !moreBlocks.isEmpty || error != nil
      || cancellationReason != nil
  }
}

extension [Unmanaged<Operation>] {
  /// Adds an operation, with its unowned reference.
  ///
  /// An operation that never finishes would collect the memory of all its earlier dependents.
  /// Therefore, before the list grows, it drops those that no longer exist, so that its capacity is
  /// at most twice the number of existing ones.
  mutating func list(_ operation: Unmanaged<Operation>) {
    let capacity = capacity
    if capacity > 0, count == capacity {
      removeAll {
        let isGone = swift_isDeallocating($0.toOpaque())
        if isGone { swift_unownedRelease($0.toOpaque()) }
        return isGone
      }
      if count > capacity / 2 { reserveCapacity(2 * capacity) }
    }
    append(operation)
  }
}

extension Operation {
  /// Applies one event to the status. Of threads that race, each sees the other's effect.
  ///
  /// Values that were written before an event are visible to a thread that acts on its result.
  /// Sequentially consistent, because some threads read the lock after that, and others read the
  /// status after they have taken the lock. This includes the failed exchange: it is the last read
  /// of an event that finds nothing to change.
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

  /// Reads the rare state under the lock. The body must only move values.
  @inline(__always)
  final func withRare<Result>(_ body: (RareState?) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(rare)
  }

  /// Changes the rare state under the lock, and creates it if necessary.
  @inline(__always) @discardableResult
  final func makeRare<Result>(_ body: (RareState) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(rareLocked)
  }

  /// `false` if there is certainly no ``record``.
  @inline(__always)
  final var mayHaveRecord: Bool { extra.load(ordering: .relaxed).isRare }

  /// The rare state, if any; can be read without the lock.
  final var rare: RareState? { extra.load(ordering: .acquiring).rare }

  /// The record for a collector. Guarded by the queue's lock, inside which the operation's lock may
  /// be taken, but never in the opposite order.
  final var record: OperationRecord? {
    get { rare?.record }
    set { (rare ?? makeRare { $0 }).record = newValue }
  }

  /// - Precondition: The lock is held.
  final var rareLocked: RareState {
    while true {
      let extra = extra.load(ordering: .acquiring)
      if let rare = extra.rare { return rare }
      let made = RareState()
      if let dependency = extra.dependency {
        made.moreDependencies = [dependency]
      } else if let dependent = extra.dependent {
        made.moreDependents = [dependent]
      }
      let new = OperationExtra(made)
      let (isExchanged, _) = self.extra.compareExchange(
        expected: extra, desired: new, ordering: .sequentiallyConsistent)
      // The rare state retains the earlier value now. If the finisher has just taken the dependent,
      // everything is repeated without it.
      (isExchanged ? extra : new).release()
      if isExchanged { return made }
    }
  }

  /// Whether it is a queue's barrier. The flag is in the status and not in the place, because
  /// threads that do not hold the queue's lock read it while others change the place. Relaxed: the
  /// flag was set before the operation was pushed, and does not change.
  @inline(__always)
  final var isBarrier: Bool { status.load(ordering: .relaxed).has(.barrier) }

  /// Whether no code of a subclass can be involved between the queue and the blocks.
  @inline(__always)
  final var isExactlyBlockOperation: Bool { type(of: self) == BlockOperation.self }

  /// Whether releasing it releases nothing else: it is a block operation that never had a
  /// dependency, and it has no rare state.
  ///
  /// This is read without the lock, although another thread that has a reference may add a
  /// dependency. In that case that thread's reference, or the queue's, is the last one.
  ///
  /// - Precondition: It has finished, so that it has no dependents.
  @inline(__always)
  final var isNothingButBlock: Bool {
    isExactlyBlockOperation && !status.load(ordering: .relaxed).has(.hasDependencies)
      && extra.load(ordering: .relaxed).isNothing
  }

  /// The objects that the release of an operation may release, and the user code that it may run.
  enum HeldObjects { case nothing, dependencies, usersObjects }

  /// The objects that it still retains. Can be read inside its queue's lock.
  ///
  /// - Precondition: It is retired.
  final var heldAfterRetirement: HeldObjects {
    // A subclass may have a `deinit`, and properties with a `deinit`.
    guard isExactlyBlockOperation else { return .usersObjects }
    let extra = extra.load(ordering: .acquiring)
    if extra.isRare, withRare({ $0?.holdsUsersObjects == true }) { return .usersObjects }
    return status.load(ordering: .relaxed).has(.hasDependencies) ? .dependencies : .nothing
  }

  @inline(__always)
  final var asExactlyBlockOperation: BlockOperation? {
    isExactlyBlockOperation ? unsafeDowncast(self, to: BlockOperation.self) : nil
  }
}
