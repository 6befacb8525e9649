// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation whose `main()` adds another operation to the operation's own queue.
final class ProducingOperation: Operation, @unchecked Sendable {
  private let job: Job

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override func main() {
    let produced = BlockOperation { self.job.work(of: self) }
    produced.queuePriority = .high
    job.queue.addOperation(produced)
  }
}

/// An operation whose first attempts fail. Each failed attempt adds a new operation that tries
/// again.
final class RetriedOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let attempts: Int
  private weak var original: Operation?

  init(_ job: Job, attempts: Int = 0, original: Operation? = nil) {
    self.job = job
    self.attempts = attempts
    self.original = original
    super.init()
  }

  override func main() {
    if isCancelled { return }
    guard attempts == 2 || job.index.isMultiple(of: 2) else {
      let copy = RetriedOperation(job, attempts: attempts + 1, original: original ?? self)
      copy.queuePriority = queuePriority
      return job.queue.addOperation(copy)
    }
    job.work(of: original ?? self)
  }
}

/// An operation that has several completion blocks: each block calls the previous one. The last
/// block adds another operation.
final class ChainedCompletionOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var steps: [Int] = []

  init(_ job: Job) {
    self.job = job
    super.init()
    for step in 0..<3 {
      addCompletionBlock { [weak self] in self?.lock.withLock { self?.steps.append(step) } }
    }
    addCompletionBlock { [weak self] in
      guard let self else { return }
      let steps = lock.withLock { self.steps }
      if steps != [0, 1, 2] { job.report("has run the completion blocks \(steps)") }
      job.queue.addOperation { self.job.work(of: self) }
    }
  }

  func addCompletionBlock(_ block: @escaping @Sendable () -> Void) {
    guard let before = completionBlock else { return completionBlock = block }
    completionBlock = {
      before()
      block()
    }
  }

  override func main() {}
}

extension Shape {
  static let producing = Shape(
    name: "producing", summary: "`main()` adds a produced operation to the same queue"
  ) { ProducingOperation($0) }

  static let retried = Shape(
    name: "retried", summary: "retries by adding a copy of itself"
  ) { RetriedOperation($0) }

  static let chainedCompletion = Shape(
    name: "chainedCompletion", summary: "completion blocks in a chain, the last of which adds more"
  ) { ChainedCompletionOperation($0) }
}
