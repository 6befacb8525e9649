// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// Starts operations when they are ready, in the order of their priorities, so many at a time.
///
/// An operation belongs to the queue from when it is added until it has finished. The queue retains
/// it for that time, and stays alive itself while it has unfinished operations, whether or not its
/// user holds it.
///
/// Every member may be used on any thread.
///
/// A child process that `fork()` makes has none of the threads that run operations. If a queue was
/// created before the fork, the child may create operations, start synchronous ones of one block
/// by hand, and call `exec` or `_exit`. If it adds an operation to a queue, or waits for one that is in a
/// queue, it ends with a message on the standard error stream. A subclass that depends on another operation,
/// and a completion block, need a thread too. If no queue was created before the fork, the child
/// uses queues as any other process. What another thread had locked when `fork()` was called stays locked in
/// the child: <doc:PrioritiesAndWidths> says what that means.
///
/// Source: Apple, "NSOperationQueue Class Reference".
// Unchecked because an open class cannot be checked. Its stored properties are thread-safe.
open class OperationQueue: @unchecked Sendable {
  /// The value of ``maxConcurrentOperationCount`` that leaves the number to the system.
  public static let defaultMaxConcurrentOperationCount = -1

  final let core: QueueCore
  final let keyValueObservations = KeyValueObservations()
  final let companionReference = Atomic<Unmanaged<AnyObject>?>(nil)

  /// Creates a queue of default width that is not suspended.
  public init() {
    core = QueueCore()
    core.belongs(to: self)
    QueueRegistry.add(self)
  }

  /// A queue with another pool of threads than all others.
  init(pool: WorkerPool) {
    core = QueueCore(pool: pool)
    core.belongs(to: self)
    QueueRegistry.add(self)
  }

  /// A queue of the library's own, which monitors do not see.
  init(unlistedNamed name: String, lane: WorkerPoolState.Lane? = nil) {
    core = QueueCore(fixedLane: lane)
    core.belongs(to: self)
    core.withScheduler { scheduler, _ in scheduler.name = name }
    QueueRegistry.add(self, isListed: false)
  }

  /// The process's ``main`` queue, which is never destroyed.
  init(main: Void) {
    core = QueueCore(isMain: true)
    core.belongs(to: self)
    core.configureAsMain()
    QueueRegistry.add(self)
  }

  deinit {
    let companion = tellCompanionOfEnd()
    keyValueObservations.objectIsGone()
    QueueRegistry.remove(self)
    companion?.release()
  }

  /// Where completion blocks run: on workers like any other work, so that they cost no more threads
  /// than that.
  static let completions = OperationQueue(unlistedNamed: "completion", lane: .completion)
  /// Where the library does what it must not do on the thread that causes it. A completion block that
  /// takes long does not delay it.
  static let duties = OperationQueue(unlistedNamed: "duty", lane: .duty)

  // MARK: Main and current

  /// The queue whose operations run one at a time on the main dispatch queue.
  ///
  /// They run once the program serves that: with `RunLoop.main.run()` on the main thread; with
  /// `dispatchMain()` and below an asynchronous `main`, on Linux, on another thread, one at a time
  /// like all that is on the main dispatch queue. A program that does none of these never starts
  /// them.
  ///
  /// Its name, width, quality of service, suspension and ``underlyingQueue`` are fixed: setting them
  /// has no effect, which a ``Diagnostic`` tells. Operations in it can be cancelled like any other.
  ///
  /// The same object always; made when it is first asked for.
  ///
  /// Source: Apple, "OperationQueue.main".
  open class var main: OperationQueue { mainQueue }

  /// The queue of the operation that runs on the calling thread; of the outer one, where an operation
  /// was started by hand inside another.
  ///
  /// Outside of operations it is ``main`` on the main thread and on the main dispatch queue, whichever
  /// thread serves that, and `nil` elsewhere.
  ///
  /// Source: Apple, "OperationQueue.current".
  open class var current: OperationQueue? { currentQueue }

  // MARK: Adding

  /// Adds an operation, which starts when it is ready and a slot is free, on another thread.
  ///
  /// - Precondition: It is not and was not in a queue, and has not been started.
  open func addOperation(_ operation: Operation) {
    // Before the queue takes it: from then on a change makes the queue look.
    if !operation.isExactlyBlockOperation { operation.readPriorityAgain() }
    if !core.add(operation) { refuse(operation) }
  }

  /// Adds a block as a ``BlockOperation``, of the queue's ``qualityOfService`` at this moment.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    let operation = BlockOperation(block: block)
    if !core.hasDefaultQualityOfService { operation.qualityOfService = core.qualityOfService }
    if type(of: self) == OperationQueue.self {
      core.addNew(operation)
    } else {
      // Which a subclass may override.
      addOperation(operation)
    }
  }

  /// Adds several operations as one step: their priorities decide which one starts first.
  ///
  /// - Parameters:
  ///   - operations: The operations; where one may not be added, none is.
  ///   - waits: Whether to block until all of these, and only these, have finished.
  @available(*, noasync, message: "May block a thread of the concurrency runtime")
  open func addOperations(_ operations: [Operation], waitUntilFinished waits: Bool) {
    ForkedProcess.check("to add operations to a queue")
    if waits, core.isOnMainDispatchQueue, MainDispatchQueue.isHeldHere, !operations.isEmpty {
      return refuseToWaitOnMain("-[OperationQueue addOperations:waitUntilFinished:]")
    }
    for operation in operations where !operation.isExactlyBlockOperation {
      operation.readPriorityAgain()
    }
    if let refused = core.add(operations) { return refuse(refused) }
    guard waits else { return }
    for operation in operations { operation.waitUntilFinished() }
  }

  /// Adds a block that runs after everything that was added before it has finished, and before
  /// anything that is added after it starts, whatever the priorities.
  ///
  /// It runs alone, as one operation of the queue does: it needs a slot, and waits while the queue is
  /// suspended. It is no operation that ``operations`` lists or ``operationCount`` counts, but
  /// ``waitUntilAllOperationsAreFinished()`` waits for it, and ``cancelAllOperations()`` keeps it from
  /// running. Cancelled operations, and a cancelled barrier itself, keep the order too. Adding one
  /// takes the same time however many operations and barriers the queue holds.
  ///
  /// An operation that stands ahead of a barrier and depends on one behind it waits for ever: for
  /// itself, by way of the barrier. Cancelling it lets everything go on.
  ///
  /// Source: Apple, "OperationQueue.addBarrierBlock(_:)".
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    ForkedProcess.check("to add a barrier to a queue")
    core.addBarrier(BlockOperation(block: barrier))
  }

  private final func refuse(_ operation: Operation) {
    Misuse.raise(
      .cannotEnqueue,
      "-[OperationQueue addOperation:]: \(operation.description) cannot be added: it is finished, "
        + "executing or already in a queue")
  }

  // MARK: Announcing changes

  /// Announces that the value of `key` is about to change. For subclasses' own properties; the queue
  /// announces its own.
  open func willChangeValue(forKey key: String) { valueWillChange(forKey: key) }

  /// Announces that the value of `key` has changed. Pair it with `willChangeValue(forKey:)` on the
  /// same thread.
  open func didChangeValue(forKey key: String) { valueDidChange(forKey: key) }

  /// The value of a property by name, with or without `is`.
  ///
  /// - Parameter key: A property of this class; a subclass overrides this for its own keys.
  /// - Returns: The value.
  /// - Precondition: There is a property of this name.
  open func value(forKey key: String) -> Any? { knownValue(forKey: key) }

  // MARK: Control

  /// The most operations that run at once; −1, the default, leaves the number to the system.
  ///
  /// 0 starts nothing. Each number is honoured exactly, for operations that block too. A lower one
  /// does not touch what runs; a higher one takes effect at once.
  ///
  /// - Precondition: Not below −1.
  open var maxConcurrentOperationCount: Int {
    get { givenWidth }
    set {
      guard newValue >= Self.defaultMaxConcurrentOperationCount else {
        return Misuse.raise(
          .negativeWidth,
          "-[OperationQueue setMaxConcurrentOperationCount:]: \(newValue) is below -1")
      }
      guard !isFixed("maxConcurrentOperationCount") else { return }
      announce("maxConcurrentOperationCount", unless: newValue == givenWidth) {
        core.withScheduler { scheduler, _ in
          scheduler.maxConcurrentOperationCount = newValue
          core.declaredWidth.store(newValue, ordering: .relaxed)
          scheduler.monitor.queueDidChange()
        }
        core.pool.widthChanged(core)
      }
    }
  }

  /// Whether the queue starts nothing new, not even to retire what was cancelled.
  ///
  /// What runs goes on, and operations may be added. Suspended with operations in it and let go of
  /// by its user, a queue stays for ever, unless one of its operations resumes it: call
  /// ``OperationQueueSupplement/invalidate()`` before letting go.
  open var isSuspended: Bool {
    get { givenSuspension }
    set {
      guard !isFixed("isSuspended") else { return }
      announce("isSuspended", unless: newValue == givenSuspension) {
        core.withScheduler { scheduler, _ in
          scheduler.isSuspended = newValue
          scheduler.monitor.queueDidChange()
        }
      }
    }
  }

  /// A name for people and for the names of threads; by default one made from the queue's id.
  open var name: String? {
    get { givenName }
    set {
      guard !isFixed("name") else { return }
      let name = newValue ?? ""
      let old = core.withScheduler { scheduler, _ in scheduler.name }
      announce("name", unless: name == old) {
        core.withScheduler { scheduler, _ in
          scheduler.name = name
          scheduler.monitor.queueDidChange()
        }
      }
    }
  }

  /// How important the queue's work is; `.default` unless set. Advisory: see ``QualityOfService``.
  ///
  /// An ``underlyingQueue`` with a level of its own overrides what was set here.
  open var qualityOfService: QualityOfService {
    get { core.qualityOfService }
    set {
      guard !isFixed("qualityOfService") else { return }
      announce("qualityOfService", unless: newValue == core.qualityOfService) {
        core.qualityOfService = newValue
      }
    }
  }

  /// The dispatch queue on which the operations run; `nil`, the default, where they run on threads of
  /// this library's.
  ///
  /// Each operation is one block in that queue, among its other blocks: a serial queue runs one at a
  /// time, whatever ``maxConcurrentOperationCount`` says, and a concurrent one as many as Dispatch
  /// has threads for. The order in which they start remains this queue's, and so do width and
  /// suspension: suspending this queue leaves the dispatch queue alone. Suspended itself, the
  /// dispatch queue holds up the operations that have not begun. Several operation queues may have
  /// the same one. At most 1,024 blocks wait in it on behalf of one operation queue. Its quality of
  /// service, if it has one, overrides ``qualityOfService``.
  ///
  /// Further blocks of a ``BlockOperation`` run on threads of this library's in any case.
  ///
  /// The dispatch queue is retained. `nil` goes back to the library's threads. That of ``main`` is
  /// fixed.
  ///
  /// Source: Apple, "OperationQueue.underlyingQueue".
  ///
  /// With `DispatchQueue.main` the operations run on the main dispatch queue, one at a time, and wait
  /// there behind all of its other blocks. This is discouraged: use ``main``, which is made for it.
  ///
  /// - Precondition: The queue has no operations when it is set.
  open var underlyingQueue: DispatchQueue? {
    get { core.underlyingQueue }
    set {
      guard !isFixed("underlyingQueue") else { return }
      guard core.setUnderlyingQueue(newValue) else {
        return Misuse.raise(
          .setsUnderlyingQueueWhileBusy,
          "-[OperationQueue setUnderlyingQueue:]: “\(name ?? "")” has operations that have not "
            + "finished")
      }
    }
  }

  /// Calls `cancel()` on every operation that is in the queue, in the order of addition, and keeps
  /// every barrier that has not started from running its block.
  ///
  /// They leave it as they finish; those that have not started need a free slot for that.
  open func cancelAllOperations() {
    let (barriers, operations) = core.withScheduler { scheduler, _ in
      (scheduler.allBarriers, scheduler.allOperations)
    }
    // First: what is ahead of one of them may finish as soon as it is cancelled.
    for barrier in barriers { barrier.cancel() }
    for operation in operations { operation.cancel() }
  }

  /// Blocks until the queue is empty at a moment, barriers and what is added meanwhile included.
  ///
  /// - Precondition: Not called from inside one of the queue's own operations.
  @available(*, noasync, message: "Blocks a thread of the concurrency runtime")
  open func waitUntilAllOperationsAreFinished() {
    CurrentWork.retireWhatHasRun()
    if CurrentWork.isInsideOperation(of: core) {
      return Misuse.raise(
        .waitInsideOwnQueue,
        "-[OperationQueue waitUntilAllOperationsAreFinished]: called inside an operation of “"
          + "\(name ?? "")”, which would wait for itself")
    }
    if core.isOnMainDispatchQueue, MainDispatchQueue.isHeldHere, core.hasPending {
      return refuseToWaitOnMain("-[OperationQueue waitUntilAllOperationsAreFinished]")
    }
    let latch = Latch()
    guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(latch) }) else { return }
    ForkedProcess.check("to wait for the operations of a queue")
    CurrentWork.waiting(for: .queue(self)) { latch.wait() }
  }

  // MARK: Contents

  /// The operations that have not finished, in the order of addition. A copy.
  open var operations: [Operation] {
    core.withScheduler { scheduler, _ in scheduler.allOperations }
  }

  /// How many operations have not finished.
  open var operationCount: Int {
    core.withScheduler { scheduler, _ in scheduler.counts.unfinished }
  }

  // MARK: Identity

  /// The class's name, the identifier and the name that was set, for people.
  open var description: String {
    let title = core.withScheduler { scheduler, _ in scheduler.name }
    let quoted = title.isEmpty ? "" : " “\(title)”"
    return "<\(String(describing: type(of: self))) \(core.id.rawValue)\(quoted)>"
  }

  /// As ``description``, with the number of operations, the width and whether it is suspended.
  open var debugDescription: String {
    "\(description) {operations: \(operationCount), width: \(maxConcurrentOperationCount), "
      + "suspended: \(isSuspended)}"
  }

  /// A number that is the same for equal queues.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether `object` is this very queue.
  open func isEqual(_ object: Any?) -> Bool { (object as? OperationQueue) === self }
}

/// Two queues are equal if ``isEqual(_:)`` says so: by default, if they are the same object.
extension OperationQueue: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether both are the same queue.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool {
    left.isEqual(right)
  }

  /// Feeds ``hash``.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
