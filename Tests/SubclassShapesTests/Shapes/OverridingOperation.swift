// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that overrides the properties and methods of the base class, and calls `super` in
/// each.
final class OverridingOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var added: [Operation] = []

  init(_ job: Job) {
    self.job = job
    super.init()
    addDependency(Self.prepared)
  }

  private static let prepared: Operation = {
    let operation = BlockOperation {}
    operation.start()
    return operation
  }()

  override var name: String? {
    get { super.name ?? "operation \(job.index)" }
    set { super.name = newValue }
  }

  override var queuePriority: Operation.QueuePriority {
    get { job.index.isMultiple(of: 2) ? .high : super.queuePriority }
    set { super.queuePriority = newValue }
  }

  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }

  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set {
      guard let newValue else { return super.completionBlock = nil }
      super.completionBlock = { [weak self] in
        if let self, !self.isFinished { self.job.report("completes without having finished") }
        newValue()
      }
    }
  }

  override var dependencies: [Operation] { super.dependencies.reversed() }

  override func addDependency(_ operation: Operation) {
    lock.withLock { added.append(operation) }
    super.addDependency(operation)
  }

  override func removeDependency(_ operation: Operation) {
    lock.withLock { added.removeAll { $0 === operation } }
    super.removeDependency(operation)
  }

  override func waitUntilFinished() {
    super.waitUntilFinished()
    if !isFinished { job.report("has not finished after a wait") }
  }

  override func main() {
    if lock.withLock({ added.count }) != dependencies.count { job.report("misses dependencies") }
    removeDependency(Self.prepared)
    job.work(of: self)
  }
}

/// A queue that overrides the properties and methods of the base class, and calls `super` in each.
final class OverridingQueue: OperationQueue, @unchecked Sendable {
  override var name: String? {
    get { "overriding" }
    set { super.name = newValue }
  }

  override var isSuspended: Bool {
    get { super.isSuspended }
    set { super.isSuspended = newValue }
  }

  override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set { super.maxConcurrentOperationCount = newValue }
  }

  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }

  override func addOperation(_ operation: Operation) {
    operation.name = operation.name.map { "\($0) in a queue" }
    super.addOperation(operation)
  }

  override func addOperations(_ operations: [Operation], waitUntilFinished waits: Bool) {
    super.addOperations(operations, waitUntilFinished: waits)
  }

  override func waitUntilAllOperationsAreFinished() { super.waitUntilAllOperationsAreFinished() }
}

extension Shape {
  static let overriding = Shape(
    name: "overriding", summary: "every property and method overridden, with `super`",
    makeQueue: { OverridingQueue() }
  ) { OverridingOperation($0) }
}
