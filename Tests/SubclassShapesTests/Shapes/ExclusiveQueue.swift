// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// A queue that executes operations of the same category one after the other: each operation
/// depends on the previous operation of its category.
final class ExclusiveQueue: OperationQueue, @unchecked Sendable {
  private let lock = ShapeLock()
  private var last: [String: Operation] = [:]
  private var running: Set<String> = []
  private var hasCancelled = false

  override func addOperation(_ operation: Operation) {
    if let operation = operation as? ExclusiveOperation {
      let previous = lock.withLock { last.updateValue(operation, forKey: operation.category) }
      if let previous { operation.addDependency(previous) }
    }
    super.addOperation(operation)
  }

  override func addOperations(_ operations: [Operation], waitUntilFinished waits: Bool) {
    for operation in operations { addOperation(operation) }
    if waits { for operation in operations { operation.waitUntilFinished() } }
  }

  /// Records that an operation of a category begins.
  ///
  /// - Returns: Whether the operation may execute now. Two operations of a category may execute at
  ///   the same time only if an operation was cancelled, because a cancelled operation does not
  ///   wait for the previous one.
  func enter(_ category: String) -> Bool {
    lock.withLock { running.insert(category).inserted || hasCancelled }
  }

  func willCancel() { lock.withLock { hasCancelled = true } }

  func leave(_ category: String) { lock.withLock { _ = running.remove(category) } }

  func ends(_ operation: Operation, of category: String) {
    lock.withLock { if last[category] === operation { last[category] = nil } }
  }
}

/// An operation that executes only while no other operation of its category does.
final class ExclusiveOperation: Operation, @unchecked Sendable {
  let category: String

  private let job: Job

  init(_ job: Job) {
    self.job = job
    category = "category \(job.index % 3)"
    super.init()
    completionBlock = { [weak self] in self?.leaveLine() }
  }

  private func leaveLine() {
    (job.queue as? ExclusiveQueue)?.ends(self, of: category)
  }

  override func main() {
    guard let queue = job.queue as? ExclusiveQueue else { return job.report("has another queue") }
    if !queue.enter(category) { job.report("runs beside another one of its category") }
    job.work(of: self)
    queue.leave(category)
  }

  override func cancel() {
    (job.queue as? ExclusiveQueue)?.willCancel()
    super.cancel()
  }
}

extension Shape {
  static let exclusive = Shape(
    name: "exclusive", summary: "mutual exclusion by a chain of dependencies in a queue subclass",
    makeQueue: { ExclusiveQueue() }
  ) { ExclusiveOperation($0) }
}
