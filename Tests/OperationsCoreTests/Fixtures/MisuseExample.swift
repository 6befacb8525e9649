// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport
import Testing

/// An example of a misuse of the library, and the message that reports it.
struct MisuseExample: Sendable {
  /// A closure that runs the call to be reported. It is called on the thread on which that call
  /// must be made.
  typealias Performer = @Sendable (() -> Void) -> Void

  /// The expected message, without the numbers of operations and queues.
  let message: String
  /// A closure that misuses the library, and blocks until all operations have finished.
  let make: @Sendable (_ perform: @escaping Performer) -> Void

  static func of(_ kind: OperationMisuse.Kind) -> MisuseExample {
    switch kind {
    case .receiverAlreadyExecuting: receiverAlreadyExecuting
    case .receiverNotReady: receiverNotReady
    case .simultaneousStart: simultaneousStart
    case .startOfEnqueuedOperation: startOfEnqueuedOperation
    case .cannotEnqueue: cannotEnqueue
    case .selfDependency: selfDependency
    case .negativeWidth: negativeWidth
    case .addsBlockAfterStart: addsBlockAfterStart
    case .waitOnSelf: waitOnSelf
    case .waitInsideOwnQueue: waitInsideOwnQueue
    case .undefinedKey: undefinedKey
    case .observerNotRegistered: observerNotRegistered
    case .waitOnMainThread: waitOnMainThread
    case .setsUnderlyingQueueWhileBusy: setsUnderlyingQueueWhileBusy
    case .nothingToRun: nothingToRun
    case .scopeHasEnded: scopeHasEnded
    default: preconditionFailure("The kind \(kind) has no example")
    }
  }
}

// MARK: - One of each kind

extension MisuseExample {
  private static let receiverAlreadyExecuting = MisuseExample(
    message: "-[Operation start]: <SelfUsingOperation #> cannot be started: "
      + "it is already executing"
  ) { perform in
    SelfUsingOperation { operation in perform { operation.start() } }.start()
  }

  private static let receiverNotReady = MisuseExample(
    message: "-[Operation start]: <Operation #> cannot be started: it is not yet ready to execute"
  ) { perform in
    let operation = Operation()
    operation.addDependency(Operation())
    perform { operation.start() }
  }

  private static let simultaneousStart = MisuseExample(
    message: "-[Operation start]: <ObstructedOperation #> cannot be started: "
      + "another thread is starting it"
  ) { perform in
    ObstructedOperation(obstacle: { operation in perform { operation.start() } }).start()
  }

  private static let startOfEnqueuedOperation = MisuseExample(
    message: "-[Operation start]: <BlockOperation #> cannot be started: "
      + "it is enqueued in an operation queue, which will start it"
  ) { perform in
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    perform { operation.start() }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  private static let cannotEnqueue = MisuseExample(
    message: "-[OperationQueue addOperation:]: <Operation #> cannot be added: "
      + "it is finished, executing or already in a queue"
  ) { perform in
    let operation = Operation()
    operation.start()
    perform { OperationQueue().addOperation(operation) }
  }

  private static let selfDependency = MisuseExample(
    message: "-[Operation addDependency:]: <Operation #> cannot depend on itself"
  ) { perform in
    let operation = Operation()
    perform { operation.addDependency(operation) }
  }

  private static let negativeWidth = MisuseExample(
    message: "-[OperationQueue setMaxConcurrentOperationCount:]: -2 is below -1"
  ) { perform in
    perform { OperationQueue().maxConcurrentOperationCount = -2 }
  }

  private static let addsBlockAfterStart = MisuseExample(
    message: "-[BlockOperation addExecutionBlock:]: <BlockOperation #> executes or has finished"
  ) { perform in
    let operation = BlockOperation {}
    operation.start()
    perform { operation.addExecutionBlock {} }
  }

  private static let waitOnSelf = MisuseExample(
    message: "-[Operation waitUntilFinished]: <SelfUsingOperation #> waits for itself"
  ) { perform in
    SelfUsingOperation { operation in perform { operation.waitUntilFinished() } }.start()
  }

  private static let waitInsideOwnQueue = MisuseExample(
    message: "-[OperationQueue waitUntilAllOperationsAreFinished]: called inside an operation of "
      + "“tiles”, which would wait for itself"
  ) { perform in
    let queue = OperationQueue()
    queue.name = "tiles"
    queue.addOperation { perform { queue.waitUntilAllOperationsAreFinished() } }
    queue.waitUntilAllOperationsAreFinished()
  }

  private static let nothingToRun = MisuseExample(
    message: "-[AsyncOperation run]: <AsyncOperation<Int> #> has nothing to run: it was created "
      + "without a closure and does not override run(), or has run already"
  ) { perform in
    perform { AsyncOperation<Int>().start() }
  }

  private static let scopeHasEnded = MisuseExample(
    message: "-[OperationScope addOperation:]: <BlockOperation #> cannot be added: the scope has "
      + "ended, because withOperations has returned"
  ) { perform in
    let kept = Monitored<OperationScope?>(nil)
    let isOver = Gate()
    Task {
      try await OperationQueue().withOperations { scope in kept.change { $0 = scope } }
      isOver.open()
    }
    _ = isOver.waitUntilOpen()
    let operation = BlockOperation { Issue.record("An operation of an ended scope has run") }
    perform { kept.value?.addOperation(operation) }
  }

  private static let undefinedKey = MisuseExample(
    message: "-[Operation valueForKey:]: <Operation #> is not key value coding-compliant for the "
      + "key “color”"
  ) { perform in
    let operation = Operation()
    perform { _ = operation.value(forKey: "color") }
  }

  private static let observerNotRegistered = MisuseExample(
    message: "-[Operation removeObserver:forKeyPath:]: <Operation #> has no such observer for the "
      + "key path “isReady”"
  ) { perform in
    let operation = Operation()
    perform { operation.removeObserver(DeafObserver(), forKeyPath: "isReady") }
  }

  private static let waitOnMainThread = MisuseExample(
    message:
      "-[Operation waitUntilFinished]: <BlockOperation #> has not started and needs the main "
      + "thread, which would wait for itself"
  ) { perform in
    let operation = BlockOperation {}
    let isOver = Gate()
    // The main dispatch queue runs nothing else until this block returns.
    DispatchQueue.main.async {
      OperationQueue.main.addOperation(operation)
      perform { operation.waitUntilFinished() }
      isOver.open()
    }
    isOver.pass()
    operation.waitUntilFinished()
  }

  private static let setsUnderlyingQueueWhileBusy = MisuseExample(
    message: "-[OperationQueue setUnderlyingQueue:]: “busy” has operations that have not finished"
  ) { perform in
    let queue = OperationQueue()
    queue.name = "busy"
    queue.isSuspended = true
    queue.addOperation {}
    perform { queue.underlyingQueue = DispatchQueue(label: "other") }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }
}

private final class DeafObserver: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

/// An operation that runs a closure with the operation itself as the argument.
class SelfUsingOperation: Operation, @unchecked Sendable {
  private let work: @Sendable (Operation) -> Void

  init(work: @escaping @Sendable (Operation) -> Void) {
    self.work = work
    super.init()
  }

  override func main() { work(self) }
}

/// An operation that runs a closure when its start has begun but it does not execute yet.
final class ObstructedOperation: Operation, @unchecked Sendable {
  private let obstacle: @Sendable (ObstructedOperation) -> Void
  private let work: @Sendable (ObstructedOperation) -> Void

  init(
    obstacle: @escaping @Sendable (ObstructedOperation) -> Void,
    work: @escaping @Sendable (ObstructedOperation) -> Void = { _ in }
  ) {
    self.obstacle = obstacle
    self.work = work
    super.init()
  }

  override func willChangeValue(forKey key: String) {
    if key == "isExecuting", !isExecuting, !isFinished { obstacle(self) }
    super.willChangeValue(forKey: key)
  }

  override func main() { work(self) }
}
