// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

extension OperationQueue {
  static let mainQueue = OperationQueue(main: ())

  /// The queue for completion blocks. They run on the workers of the pool, so that they need no
  /// additional threads.
  static let completions = OperationQueue(unlistedNamed: "completion", lane: .completion)
  /// The queue for work of the library that must not run on the thread that causes it. Long
  /// completion blocks do not delay the operations of this queue.
  static let duties = OperationQueue(unlistedNamed: "duty", lane: .duty)
  /// The queue that finishes operations that a closed queue has refused. They are cancelled.
  static let refused = OperationQueue(unlistedNamed: "refused", lane: .completion)

  /// The value of ``OperationQueue/current``.
  static var currentQueue: OperationQueue? {
    let isOnMainQueue = MainDispatchQueue.isRunningHere
    // An operation of another queue may run code synchronously on the main dispatch queue. For this
    // code, the main queue is the current queue, and not the queue of the operation.
    if CurrentWork.operation != nil, CurrentWork.servedQueue != nil,
      CurrentWork.isOnMainQueue || !isOnMainQueue
    {
      return servedQueue
    }
    if let queue = CurrentWork.operationOfTask?.queueOfWork { return queue }
    if let core = CurrentWork.scope?.pointee.taskQueue { return QueueRegistry.queue(at: core) }
    return isOnMainQueue || MainDispatchQueue.isMainThread ? mainQueue : nil
  }

  /// The queue whose operation this thread executes synchronously; `nil` outside operations of queues, and in
  /// completion blocks.
  static var servedQueue: OperationQueue? {
    guard let owner = CurrentWork.servedQueue?.owner.takeUnretainedValue() else { return nil }
    return owner === completions || owner === refused ? nil : owner
  }

  /// Whether this queue is ``main``. Reading this property does not create the main queue.
  package final var isMain: Bool { core.isMain }

  /// Returns whether a property cannot be set because this queue is ``main``, and reports the
  /// attempt in that case.
  final func isFixed(_ property: String) -> Bool {
    if core.isMain {
      OperationDiagnostic.note(
        .setsFixedPropertyOfMainQueue,
        "\(property) of OperationQueue.main is fixed; setting it has no effect")
    }
    return core.isMain
  }

  /// Reports that a caller on the main thread waits for work that only the main thread could do.
  final func refuseToWaitOnMain(_ method: String) {
    OperationMisuse.raise(
      .waitOnMainThread,
      "\(method): called on the main thread while “\(name ?? "")” has operations that only this "
        + "thread can start: the thread would wait for itself")
  }
}

extension QueueCore {
  /// Gives this queue the fixed properties of ``OperationQueue/main``, before any other thread sees
  /// the queue.
  func configureAsMain() {
    withScheduler { scheduler, _ in
      scheduler.name = "NSOperationQueue Main Queue"
      scheduler.maxConcurrentOperationCount = 1
    }
    declaredWidth.store(1, ordering: .relaxed)
    givenQualityOfService = .userInteractive
    _ = setUnderlyingQueue(.main)
  }

  /// Whether the queue has operations that were not started.
  var hasPending: Bool { withScheduler { scheduler, _ in scheduler.hasPending } }
}
