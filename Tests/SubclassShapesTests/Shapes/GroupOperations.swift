// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that has child operations in its own suspended queue. Its `start()` resumes the
/// queue. A further operation depends on all children, and finishes this operation.
final class ChildrenOperation: Operation, @unchecked Sendable {
  private let children = OperationQueue()
  private let finishing = BlockOperation {}
  private let lock = ShapeLock()
  private var flags = (isExecuting: false, isFinished: false)

  init(_ job: Job) {
    super.init()
    children.isSuspended = true
    finishing.completionBlock = { [weak self] in self?.finish() }
    children.addOperation(finishing)
    for index in 0..<3 {
      addChild(BlockOperation { [weak self] in if index == 0, let self { job.work(of: self) } })
    }
  }

  func addChild(_ child: Operation) {
    finishing.addDependency(child)
    children.addOperation(child)
  }

  override var isExecuting: Bool { lock.withLock { flags.isExecuting } }
  override var isFinished: Bool { lock.withLock { flags.isFinished } }

  override func start() {
    willChangeValue(forKey: "isExecuting")
    lock.withLock { flags.isExecuting = true }
    didChangeValue(forKey: "isExecuting")
    children.isSuspended = false
  }

  override func cancel() {
    children.cancelAllOperations()
    super.cancel()
  }

  private func finish() {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    lock.withLock { flags = (false, true) }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}

/// An operation that has its own serial queue. Its `main()` adds operations to this queue and waits
/// for them.
final class WaitingParentOperation: Operation, @unchecked Sendable {
  private let job: Job

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override func main() {
    let own = OperationQueue()
    own.maxConcurrentOperationCount = 1
    let parts = (0..<2).map { index in
      BlockOperation { if index == 1 { self.job.work(of: self) } }
    }
    own.addOperations(parts, waitUntilFinished: true)
  }
}

/// An operation that has its own queue. The last block in this queue finishes the operation.
final class QueueOwningOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let own = OperationQueue()
  private let lock = ShapeLock()
  private var flags = (isExecuting: false, isFinished: false)

  init(_ job: Job) {
    self.job = job
    super.init()
    own.maxConcurrentOperationCount = 1
    own.name = "parts of \(job.index)"
  }

  override var isExecuting: Bool {
    get { lock.withLock { flags.isExecuting } }
    set {
      willChangeValue(forKey: "isExecuting")
      lock.withLock { flags.isExecuting = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }

  override var isFinished: Bool {
    get { lock.withLock { flags.isFinished } }
    set {
      willChangeValue(forKey: "isFinished")
      lock.withLock { flags.isFinished = newValue }
      didChangeValue(forKey: "isFinished")
    }
  }

  override func start() {
    if isCancelled {
      isFinished = true
      return
    }
    isExecuting = true
    own.addOperation { self.job.work(of: self) }
    own.addOperation {
      self.isExecuting = false
      self.isFinished = true
    }
  }
}

extension Shape {
  static let children = Shape(
    name: "children",
    summary: "a group: a suspended queue inside, and a finishing operation"
  ) { ChildrenOperation($0) }

  static let waitingParent = Shape(
    name: "waitingParent", summary: "`main()` adds to a queue of its own and waits"
  ) { WaitingParentOperation($0) }

  static let queueOwning = Shape(
    name: "queueOwning", summary: "owns a queue, whose last block finishes the operation"
  ) { QueueOwningOperation($0) }
}
