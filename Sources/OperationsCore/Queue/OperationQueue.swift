// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// A queue that starts operations when they are ready, in the order of their priorities, up to a maximum
/// number at a time.
///
/// An operation belongs to the queue from its addition until it has finished. The queue retains the operation
/// for that time. A queue stays alive while it has unfinished operations, even without other references.
///
/// Every member can be used on any thread.
///
/// A child process of `fork()` has none of the threads that execute operations. If a queue was created before
/// the fork, the child can create operations, directly start synchronous ones with one block, and call `exec`
/// or `_exit`. The child ends with a message on the standard error stream if it adds an operation to a queue,
/// if it waits for, cancels or changes an operation in a queue, or if it resumes a queue that has operations.
/// A completion block, and the cancellation of a dependent by a failure, need a thread too. If an operation
/// calls `fork()`, the child must not return from it. If no queue was created before the fork, and the process
/// had not used tasks or Dispatch, the child can use queues like any other process. Locks that other threads
/// held during `fork()` stay locked in the child: see <doc:PrioritiesAndWidths>.
///
/// Source: Apple, "NSOperationQueue Class Reference".
// Unchecked `Sendable` conformance, because the compiler cannot check an open class. The stored
// properties are thread-safe.
open class OperationQueue: @unchecked Sendable {
  /// The value of ``maxConcurrentOperationCount`` that lets the system decide how many operations
  /// execute at once.
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

  /// Creates a queue with a separate pool of threads.
  init(pool: WorkerPool) {
    core = QueueCore(pool: pool)
    core.belongs(to: self)
    QueueRegistry.add(self)
  }

  /// Creates a queue for the library's own work, which monitors do not show.
  init(unlistedNamed name: String, lane: WorkerPoolState.Lane? = nil) {
    core = QueueCore(fixedLane: lane)
    core.belongs(to: self)
    core.withScheduler { scheduler, _ in scheduler.name = name }
    QueueRegistry.add(self, isListed: false)
  }

  /// Creates the process's ``main`` queue, which is never destroyed.
  init(main: Void) {
    core = QueueCore(isMain: true)
    core.belongs(to: self)
    core.configureAsMain()
    QueueRegistry.add(self)
  }

  deinit {
    keyValueObservations.objectIsGone()
    QueueRegistry.remove(self)
    core.endStartLimit()
    companionReference.load(ordering: .acquiring)?.release()
  }

  // MARK: Main and current

  /// The queue whose operations run one at a time on the main dispatch queue.
  ///
  /// The operations of the main queue run if the program serves the main dispatch queue. With
  /// `RunLoop.main.run()` they run on the main thread. With `dispatchMain()` or an asynchronous `main`, on
  /// Linux, they run on another thread, one at a time like all blocks of the main dispatch queue. If the
  /// program does none of these, the operations never start.
  ///
  /// The main queue's name, width, quality of service, suspension and ``underlyingQueue`` are fixed: setting
  /// them has no effect and is reported as an ``OperationDiagnostic``. Its operations can be cancelled like any others.
  ///
  /// This property always returns the same object, which is created when it is first used.
  ///
  /// Source: Apple, "OperationQueue.main".
  open class var main: OperationQueue { mainQueue }

  /// The queue of the operation that executes on the calling thread. If an operation was started directly
  /// inside another operation, it is the queue of the outer operation. In the work of an ``AsyncOperation``, it is
  /// the operation's queue on every thread. In other tasks on a queue's executor, it is that queue.
  ///
  /// Outside operations, the value is ``main`` on the main thread and on every thread that serves the main
  /// dispatch queue, and `nil` elsewhere.
  ///
  /// Source: Apple, "OperationQueue.current".
  open class var current: OperationQueue? { currentQueue }

  // MARK: Adding

  /// Adds an operation, which starts when it is ready and a slot is free, on another thread.
  ///
  /// - Precondition: The operation is not and was not in a queue, and was not started.
  open func addOperation(_ operation: Operation) {
    // The operation's priority is read before the queue gets the operation. After that, the queue
    // reads the priority again when a change is announced.
    if !operation.isExactlyBlockOperation { operation.readPriorityAgain() }
    if !core.add(operation) { refuse(operation) }
  }

  /// Adds a block as a ``BlockOperation`` with the queue's ``qualityOfService`` at this moment.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    let operation = BlockOperation(block: block)
    if !core.hasDefaultQualityOfService { operation.qualityOfService = core.qualityOfService }
    if type(of: self) == OperationQueue.self {
      core.addNew(operation)
    } else {
      // This method calls `addOperation(_:)`, because a subclass of `OperationQueue` may override
      // that method.
      addOperation(operation)
    }
  }

  /// Adds several operations in one step: their priorities decide which one starts first.
  ///
  /// - Parameters:
  ///   - operations: The operations. If one of them cannot be added, none of them is added.
  ///   - waits: Whether to block until the added operations have finished. The call does not wait
  ///     for other operations of the queue.
  @available(*, noasync, message: "May block a thread. Call `addOperations(_:)`")
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

  /// Adds a block that runs after all earlier operations have finished, and before any later
  /// operation starts, regardless of priorities.
  ///
  /// The block runs alone. Like an operation of the queue, it needs a slot and waits while the queue is
  /// suspended. It is not included in ``operations`` and ``operationCount``, but
  /// ``waitUntilAllOperationsAreFinished()`` waits for it, and ``cancelAllOperations()`` keeps it from
  /// running. Cancelled operations, and a cancelled barrier itself, keep the order too. Adding a barrier
  /// takes the same time for any number of operations and barriers in the queue.
  ///
  /// If an operation before a barrier depends on an operation behind the barrier, it waits for itself and
  /// never starts. Cancelling this operation ends the deadlock.
  ///
  /// Source: Apple, "OperationQueue.addBarrierBlock(_:)".
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    ForkedProcess.check("to add a barrier to a queue")
    core.addBarrier(BlockOperation(block: barrier))
  }

  private final func refuse(_ operation: Operation) {
    OperationMisuse.raise(
      .cannotEnqueue,
      "-[OperationQueue addOperation:]: \(operation.description) cannot be added: it is finished, "
        + "executing or already in a queue")
  }

  // MARK: Announcing changes

  /// Announces that the value of `key` is about to change. Use this method for properties that a subclass
  /// declares. The queue announces changes of its own properties.
  open func willChangeValue(forKey key: String) { valueWillChange(forKey: key) }

  /// Announces that the value of `key` has changed. Pair each call with a call of `willChangeValue(forKey:)`
  /// on the same thread.
  open func didChangeValue(forKey key: String) { valueDidChange(forKey: key) }

  /// Returns the value of a property by its name, with or without `is`.
  ///
  /// - Parameter key: A property of this class. A subclass overrides this method for its own keys.
  /// - Returns: The value.
  /// - Precondition: The class has a property with this name.
  open func value(forKey key: String) -> Any? { knownValue(forKey: key) }

  // MARK: Control

  /// The maximum number of operations that execute at once. With −1, the default, the system decides the
  /// number.
  ///
  /// With 0 no operation starts. The number is exact, even if operations block. A lower number does not
  /// affect executing operations. A higher number takes effect immediately.
  ///
  /// - Precondition: The number is not below −1.
  open var maxConcurrentOperationCount: Int {
    get { givenWidth }
    set {
      guard newValue >= Self.defaultMaxConcurrentOperationCount else {
        return OperationMisuse.raise(
          .negativeWidth,
          "-[OperationQueue setMaxConcurrentOperationCount:]: \(newValue) is below -1")
      }
      guard !isFixed("maxConcurrentOperationCount") else { return }
      announce("maxConcurrentOperationCount", unless: newValue == givenWidth) {
        core.checkProcess("to set the width of a queue that has operations")
        core.withScheduler { scheduler, _ in
          scheduler.maxConcurrentOperationCount = newValue
          core.declaredWidth.store(newValue, ordering: .relaxed)
          scheduler.monitor.queueDidChange()
        }
        core.pool.laneChanged(core)
      }
    }
  }

  /// Whether the queue is suspended. A suspended queue starts no operation, and does not finish cancelled
  /// operations that have not started.
  ///
  /// Executing operations continue, and operations can be added. If a suspended queue with
  /// operations is released by its user, it stays alive, unless one of its operations resumes it:
  /// call ``OperationQueueSupplement/cancelAllAndResume()`` before you release it.
  open var isSuspended: Bool {
    get { givenSuspension }
    set {
      guard !isFixed("isSuspended") else { return }
      announce("isSuspended", unless: newValue == givenSuspension) {
        if !newValue { core.checkProcess("to resume a queue that has operations") }
        core.withScheduler { scheduler, _ in
          scheduler.isSuspended = newValue
          scheduler.monitor.queueDidChange()
        }
      }
    }
  }

  /// A name for display and for the names of threads. The default contains the queue's id.
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

  /// The importance of the queue's work; `.default` unless set. The value is advisory; see
  /// ``QualityOfService``.
  ///
  /// If the value is ``QualityOfService/background``, the operations run on threads of low scheduling priority,
  /// which serve no other queues; see <doc:PrioritiesAndWidths>. A change applies to operations that have not
  /// started.
  ///
  /// An ``underlyingQueue`` with its own quality of service overrides this value.
  open var qualityOfService: QualityOfService {
    get { core.qualityOfService }
    set {
      guard !isFixed("qualityOfService") else { return }
      announce("qualityOfService", unless: newValue == core.givenQualityOfService) {
        core.givenQualityOfService = newValue
        // A waiting request for a worker may now need another kind of thread.
        core.pool.laneChanged(core)
      }
    }
  }

  /// The dispatch queue on which the operations run; `nil`, the default, for threads of this
  /// library.
  ///
  /// Each operation is one block in the dispatch queue, among its other blocks. An operation that may start gets
  /// its block when it is added. So a block that you submit to the dispatch queue later runs after it, if the
  /// dispatch queue is serial and if at most 1,024 operations wait for their blocks. An operation that has to wait for a
  /// dependency, a barrier, a limit or a free slot gets its block later. A serial dispatch queue runs
  /// one operation at a time, regardless of ``maxConcurrentOperationCount``. A concurrent dispatch queue runs
  /// as many operations as Dispatch has threads for. This queue still decides the order in which operations
  /// start, and its width and suspension still apply. Suspending this queue does not affect the dispatch
  /// queue. If the dispatch queue is suspended, operations that have not begun wait. Several operation queues
  /// can have the same dispatch queue. For one operation queue, at most 1,024 blocks wait in the dispatch
  /// queue. If the dispatch queue has a quality of service, it overrides ``qualityOfService``.
  ///
  /// Further blocks of a ``BlockOperation`` always run on threads of this library.
  ///
  /// The dispatch queue is retained. Setting `nil` makes the operations run on the library's threads again.
  /// The value of ``main`` is fixed.
  ///
  /// Source: Apple, "OperationQueue.underlyingQueue".
  ///
  /// With `DispatchQueue.main` the operations run on the main dispatch queue, one at a time, and wait there
  /// behind all of its other blocks. Use ``main`` instead.
  ///
  /// - Precondition: The queue has no operations when it is set.
  open var underlyingQueue: DispatchQueue? {
    get { core.underlyingQueue }
    set {
      guard !isFixed("underlyingQueue") else { return }
      guard core.setUnderlyingQueue(newValue) else {
        return OperationMisuse.raise(
          .setsUnderlyingQueueWhileBusy,
          "-[OperationQueue setUnderlyingQueue:]: “\(name ?? "")” has operations that have not "
            + "finished")
      }
    }
  }

  /// Calls `cancel()` on every operation in the queue, in the order of addition, and keeps the
  /// blocks of all barriers that have not started from running.
  ///
  /// The operations leave the queue when they finish. Operations that have not started need a free slot to
  /// finish.
  open func cancelAllOperations() {
    let (barriers, operations) = core.withScheduler { scheduler, _ in
      (scheduler.allBarriers, scheduler.allOperations)
    }
    // Barriers are cancelled first, because an operation before a barrier may finish as soon as it is
    // cancelled, and the barrier's block would run.
    for barrier in barriers { barrier.cancel() }
    cancel(operations)
  }

  /// Blocks until the queue is empty. The call also waits for barriers, and for operations that are
  /// added while it waits.
  ///
  /// - Precondition: The caller is not inside one of the queue's own operations.
  @available(
    *, noasync,
    message:
      "Blocks a thread. In an asynchronous function, call `await waitUntilAllOperationsAreFinished()`"
  )
  open func waitUntilAllOperationsAreFinished() {
    let method = "-[OperationQueue waitUntilAllOperationsAreFinished]"
    if mayWait(method) { waitUntilEmpty() }
  }

  // MARK: Contents

  /// The unfinished operations, in the order of addition. The array is a copy.
  open var operations: [Operation] {
    core.withScheduler { scheduler, _ in scheduler.allOperations }
  }

  /// The number of unfinished operations.
  open var operationCount: Int {
    core.withScheduler { scheduler, _ in scheduler.counts.unfinished }
  }

  // MARK: Identity

  /// The name of the class, the queue's id and the name that was set, for display.
  open var description: String {
    let title = core.withScheduler { scheduler, _ in scheduler.name }
    let quoted = title.isEmpty ? "" : " “\(title)”"
    return "<\(String(describing: type(of: self))) \(core.id.rawValue)\(quoted)>"
  }

  /// The ``description``, followed by the number of operations, the width and the suspension.
  open var debugDescription: String {
    "\(description) {operations: \(operationCount), width: \(maxConcurrentOperationCount), "
      + "suspended: \(isSuspended)}"
  }

  /// A number that is the same for equal queues.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Returns whether `object` is the same queue.
  open func isEqual(_ object: Any?) -> Bool { (object as? OperationQueue) === self }
}

/// Two queues are equal if ``isEqual(_:)`` returns `true`; by default, if they are the same object.
extension OperationQueue: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Returns whether both queues are equal.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool {
    left.isEqual(right)
  }

  /// Feeds ``hash`` into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
