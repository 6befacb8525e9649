// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that a subclass of `OperationQueue` notifies before it adds the operation.
protocol Enqueueable: Operation {
  func willEnqueue()
}

/// A queue that calls a hook of each operation before it adds it, and adds dependencies on
/// operations that must run first.
final class EnqueueingQueue: OperationQueue, @unchecked Sendable {
  override func addOperation(_ operation: Operation) {
    if let operation = operation as? ProvidedOperation {
      let provision = operation.makeProvision()
      operation.addDependency(provision)
      super.addOperation(provision)
    }
    if let operation = operation as? any Enqueueable { operation.willEnqueue() }
    super.addOperation(operation)
  }

  override func addOperations(_ operations: [Operation], waitUntilFinished waits: Bool) {
    for operation in operations { addOperation(operation) }
    if waits { for operation in operations { operation.waitUntilFinished() } }
  }
}

/// An operation that needs another operation to run first. The queue creates this other operation
/// and adds it.
final class ProvidedOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var isProvided = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  func makeProvision() -> Operation {
    BlockOperation { [weak self] in self?.lock.withLock { self?.isProvided = true } }
  }

  override func main() {
    if !isCancelled, !lock.withLock({ isProvided }) { job.report("ran before its provision") }
    job.work(of: self)
  }
}

/// An operation whose initializer creates a dependency, and adds the dependency to a queue that all
/// operations of the class share.
final class DependentInInitOperation: Operation, @unchecked Sendable {
  private static let fetches = OperationQueue()

  private let job: Job
  private let fetch: FetchOperation

  init(_ job: Job) {
    self.job = job
    fetch = FetchOperation(job.index)
    super.init()
    addDependency(fetch)
    Self.fetches.addOperation(fetch)
  }

  override func main() {
    let results = dependencies.compactMap { ($0 as? FetchOperation)?.result }
    if !isCancelled, results != [job.index] { job.report("got \(results)") }
    job.work(of: self)
  }
}

/// An operation that stores a result, which its dependents read.
final class FetchOperation: Operation, @unchecked Sendable {
  private let value: Int
  private let lock = ShapeLock()
  private var fetched: Int?

  init(_ value: Int) {
    self.value = value
    super.init()
  }

  var result: Int? { lock.withLock { fetched } }

  override func main() { lock.withLock { fetched = value } }
}

extension Shape {
  static let provided = Shape(
    name: "provided",
    summary: "a queue subclass adds what an operation depends on in `addOperation(_:)`",
    makeQueue: { EnqueueingQueue() }
  ) { ProvidedOperation($0) }

  static let dependentInInit = Shape(
    name: "dependentInInit",
    summary: "dependencies added in `init`; their results read in `main()`"
  ) { DependentInInitOperation($0) }
}
