// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The current work of the calling thread: the operation that it executes, and its queue.
enum CurrentWork {
  /// The current work of a thread. This value is on the stack of the thread.
  struct Scope {
    /// The executing operation. If calls of `start()` are nested, it is the innermost operation.
    var operation: Unmanaged<Operation>?
    /// The queue that this worker serves and keeps alive.
    var servedQueue: Unmanaged<QueueCore>?
    /// Whether the work runs on the main dispatch queue, or on a queue that targets it.
    var isOnMainQueue = false
    /// Whether `operation` has run or was cancelled, and this thread releases objects that the
    /// operation no longer needs.
    ///
    /// The operation holds its slot during the releases, for one of two reasons. The blocks that a
    /// block operation has run are released here because most releases run no user code, and
    /// another critical section would cost too much. The closure that an ``InvocationOperation`` or
    /// an ``AsyncOperation`` has called is released before threads and tasks that wait for the
    /// operation continue. If a `deinit` waits for an operation or for a queue, the wait retires
    /// the operation first: see ``CurrentWork/retireWhatHasRun()``. A `deinit` that waits in
    /// another way must not need the slot.
    var isReleasing = false
    /// The operation that has left its queue before this thread has ended its work on the
    /// operation. This thread keeps the operation alive.
    var retired: Unmanaged<Operation>?
    /// Whether this worker has its next operation but has not started it, or is counted as searching
    /// for one. While the value is `true`, the worker must not run user code.
    var isBetweenOperations = false
    /// Whether this thread is a worker that may serve ``nextQueue`` itself.
    var acceptsNextQueue = false
    /// The queue whose task this thread runs, because the queue is the executor of the task. The queue's
    /// public object may no longer exist.
    var taskQueue: Unmanaged<QueueCore>?
    /// Whether the task that is enqueued next on this thread is stored in ``firstJob``. This is so while
    /// this thread creates the task of the asynchronous operation that it starts for a queue.
    var acceptsFirstJob = false
    /// The task of the asynchronous operation that this thread has started. This thread runs the task
    /// as soon as `start()` has returned, until the task is suspended or ends.
    var firstJob: UnownedJob?
    /// Another queue that lacks a worker, and that this worker may serve next. The operation of
    /// this worker made an operation of that queue ready. The public object of that queue is
    /// retained, and a worker is claimed from its gate.
    ///
    /// This worker serves that queue if its own queue has no operation to start. Otherwise, and
    /// before user code runs, the pool gives that queue another worker: see
    /// ``CurrentWork/passNextQueueOn(_:)``.
    var nextQueue: Unmanaged<QueueCore>?
    /// The outer work of this thread, to which the thread returns when this work has ended.
    var outer: UnsafeMutablePointer<Scope>?

    init(
      operation: Unmanaged<Operation>? = nil, servedQueue: Unmanaged<QueueCore>? = nil,
      isOnMainQueue: Bool = false
    ) {
      self.operation = operation
      self.servedQueue = servedQueue
      self.isOnMainQueue = isOnMainQueue
    }
  }

  static var scope: UnsafeMutablePointer<Scope>? {
    csystem_current_worker()?.assumingMemoryBound(to: Scope.self)
  }

  static var operation: Operation? { scope?.pointee.operation?.takeUnretainedValue() }
  /// The operation whose own task is the current task; `nil` in other tasks, also in children of its task.
  static var operationOfOwnTask: Operation? {
    guard let operation = operationOfTask, operation.isInOwnTask else { return nil }
    return operation
  }
  /// The operations that this thread executes, the innermost first.
  static var operations: [Operation] {
    var operations: [Operation] = []
    var current = scope
    while let scope = current {
      if let operation = scope.pointee.operation {
        operations.append(operation.takeUnretainedValue())
      }
      current = scope.pointee.outer
    }
    if let outermost = operationOfOwnTask, !operations.contains(where: { $0 === outermost }) {
      operations.append(outermost)
    }
    return operations
  }

  /// Returns whether this thread executes the operation. The thread may also execute other
  /// operations, which were started inside this one.
  static func isInside(_ operation: Operation) -> Bool {
    let address = Unmanaged.passUnretained(operation).toOpaque()
    return isInside { $0.operation?.toOpaque() == address } || operationOfOwnTask === operation
  }

  /// Returns whether this thread executes an operation that is in the queue and has not left it.
  static func isInsideOperation(of queue: QueueCore) -> Bool {
    let address = Unmanaged.passUnretained(queue).toOpaque()
    if let operation = operationOfOwnTask, operation.enqueuedQueue?.toOpaque() == address,
      !operation.status.load(ordering: .acquiring).has(.retired)
    {
      return true
    }
    return isInside { scope in
      guard let operation = scope.operation, scope.servedQueue?.toOpaque() == address else {
        return false
      }
      return operation._withUnsafeGuaranteedRef {
        !$0.status.load(ordering: .acquiring).has(.retired)
      }
    }
  }

  private static func isInside(_ matches: (Scope) -> Bool) -> Bool {
    var current = scope
    while let scope = current {
      if matches(scope.pointee) { return true }
      current = scope.pointee.outer
    }
    return false
  }

  static var isOnMainQueue: Bool { scope?.pointee.isOnMainQueue == true }
  static var servedQueue: QueueCore? { scope?.pointee.servedQueue?.takeUnretainedValue() }

  /// Runs `body`, which releases objects that this thread's operation no longer needs.
  static func releasing(_ scope: UnsafeMutablePointer<Scope>, _ body: () -> Void) {
    scope.pointee.isReleasing = true
    body()
    scope.pointee.isReleasing = false
  }

  /// Runs `body`, which releases objects that `operation` no longer needs.
  ///
  /// - Returns: Whether the operation was retired during the releases, because a `deinit` waits.
  /// - Precondition: The operation has finished, and this thread retires it later.
  static func releasing(_ operation: Operation, _ body: () -> Void) -> Bool {
    let reference = Unmanaged.passUnretained(operation)
    if let scope, scope.pointee.operation?.toOpaque() == reference.toOpaque() {
      releasing(scope, body)
      return scope.pointee.operation == nil
    }
    var own = Scope(
      operation: reference, servedQueue: scope?.pointee.servedQueue, isOnMainQueue: isOnMainQueue)
    own.taskQueue = scope?.pointee.taskQueue
    return withScope(&own) { scope in
      releasing(scope, body)
      defer { releaseRetired(scope) }
      return scope.pointee.operation == nil
    }
  }

  /// Retires each operation of this thread that holds its slot only because its objects are being
  /// released: makes it leave its queue. Called before this thread waits.
  static func retireWhatHasRun() {
    var current = scope
    while let scope = current {
      if scope.pointee.isReleasing { retire(scope) }
      current = scope.pointee.outer
    }
  }

  /// Retires the operation that the thread executes: makes the operation, which has run or was
  /// cancelled, leave its queue. Afterwards the thread no longer executes it.
  ///
  /// - Precondition: No other thread retires the operation.
  @inline(never)
  static func retire(_ scope: UnsafeMutablePointer<Scope>) {
    guard let operation = scope.pointee.operation else { return }
    scope.pointee.isReleasing = false
    scope.pointee.operation = nil
    scope.pointee.retired = operation.retain()
    FinishedBlock(operation).finishAndRetire()
  }

  /// Releases the operation that has left its queue before this thread has ended its work on the
  /// operation.
  @inline(never)
  static func releaseRetired(_ scope: UnsafeMutablePointer<Scope>) {
    scope.pointee.retired.take()?.release()
  }

  /// Whether this thread is a worker that holds its next operation, or counts as searching.
  static var isBetweenOperations: Bool { scope?.pointee.isBetweenOperations == true }

  /// If `nextQueue` is set for this thread, clears it and requests another worker for that queue.
  @inline(never)
  static func passNextQueueOn(_ scope: UnsafeMutablePointer<Scope>?) {
    guard let queue = scope?.pointee.nextQueue.take() else { return }
    queue._withUnsafeGuaranteedRef { $0.pool.serveRetained($0) }
  }

  /// Stores `scope` as the current work of this thread while `body` runs.
  static func withScope<Result>(
    _ scope: inout Scope, _ body: (UnsafeMutablePointer<Scope>) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &scope) { pointer in
      let before = csystem_current_worker()
      pointer.pointee.outer = before?.assumingMemoryBound(to: Scope.self)
      csystem_set_current_worker(pointer)
      defer { csystem_set_current_worker(before) }
      return body(pointer)
    }
  }

  /// Runs `body` as work of `operation` for the queue, on a thread without other work.
  static func run(_ operation: Operation, for queue: OperationQueue?, _ body: () -> Void) {
    var scope = Scope(
      operation: .passUnretained(operation), servedQueue: queue.map { .passUnretained($0.core) })
    withScope(&scope) { _ in body() }
    withExtendedLifetime(queue) {}
  }

  /// Runs `body` as work of `operation`, inside the other work of this thread.
  static func run<Result>(_ operation: Operation, _ body: () -> Result) -> Result {
    guard let scope else {
      var own = Scope(operation: .passUnretained(operation))
      return withScope(&own) { _ in body() }
    }
    // If a queue has started the operation, the stored work of this thread already contains the
    // operation.
    if scope.pointee.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
      return body()
    }
    var own = Scope(
      operation: .passUnretained(operation), servedQueue: scope.pointee.servedQueue,
      isOnMainQueue: scope.pointee.isOnMainQueue)
    own.taskQueue = scope.pointee.taskQueue
    return withScope(&own) { _ in body() }
  }
}
