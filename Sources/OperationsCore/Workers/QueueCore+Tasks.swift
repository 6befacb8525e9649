// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

/// The queue as the executor of tasks. Its tasks need no slot. They run even if the queue is suspended, has
/// the width 0, or has been released.
extension QueueCore: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let scope = CurrentWork.scope, scope.pointee.acceptsFirstJob,
      scope.pointee.servedQueue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
    {
      scope.pointee.acceptsFirstJob = false
      scope.pointee.firstJob = job
    } else if isOnDispatch.load(ordering: .acquiring), addStep(job) {
      // A test continues the task.
    } else if isOnDispatch.load(ordering: .acquiring),
      let queue = scheduler.withLock({ $0.underlying?.queue })
    {
      // Only the lock is acquired. The thread that resumes a task may hold locks of the program, so no user
      // code may run here.
      queue.async { self.resume(job) }
    } else {
      pool.resume(job, on: self)
    }
  }

  /// Whether the queue is for work of the library, such as completion blocks.
  var isOfLibrary: Bool { fixedLane != nil }

  /// Runs a task on the calling thread until it is suspended or ends.
  func resume(_ job: UnownedJob) {
    var scope = CurrentWork.Scope(
      isOnMainQueue: isOnDispatch.load(ordering: .relaxed) && MainDispatchQueue.isRunningHere)
    scope.taskQueue = .passUnretained(self)
    CurrentWork.withScope(&scope) { _ in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

extension Operation {
  /// The queue that contains the operation, or that contains the operation that performs this one. `nil` if
  /// there is no such queue, or if the operation has left its queue.
  final var queueOfWork: OperationQueue? {
    var current: Operation? = self
    while let operation = current {
      if let core = operation.enqueuedQueue {
        // If the operation is not retired (has not left its queue), the queue at the stored address is its
        // queue.
        let queue = QueueRegistry.queue(at: core)
        return operation.status.load(ordering: .acquiring).has(.retired) ? nil : queue
      }
      current = operation.withRare { $0?.runner }
    }
    return nil
  }
}

extension CurrentWork {
  /// The queue that this thread serves, or whose task it runs, without its public object; `nil` if there is
  /// none, or if the queue is for work of the library, such as completion blocks.
  static var executor: QueueCore? {
    guard let scope else { return nil }
    let queue = (scope.pointee.servedQueue ?? scope.pointee.taskQueue)?.takeUnretainedValue()
    return queue?.isOfLibrary == true ? nil : queue
  }

  /// Runs `body`, which creates the task of an operation.
  ///
  /// If this thread starts the operation for its queue, the task is not passed to the pool. This thread runs
  /// it when `start()` has returned.
  static func creatingTask<Result>(of operation: Operation, _ body: () -> Result) -> Result {
    guard let scope,
      scope.pointee.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque(),
      let core = operation.enqueuedQueue, scope.pointee.servedQueue?.toOpaque() == core.toOpaque()
    else { return body() }
    scope.pointee.acceptsFirstJob = true
    defer { scope.pointee.acceptsFirstJob = false }
    return body()
  }
}
