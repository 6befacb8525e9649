// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation with its own conditions. When its dependencies have finished, its override of
/// `isReady` evaluates the conditions, and the operation becomes ready if they are met. A queue
/// calls `willEnqueue()` before it adds the operation.
final class ConditionalOperation: Operation, Enqueueable, @unchecked Sendable {
  enum State: Int, Comparable {
    case initialized, pending, evaluatingConditions, ready, executing, finished

    static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
  }

  private let job: Job
  private let lock = ShapeLock()
  private var currentState = State.initialized
  private let conditions: [@Sendable (@escaping @Sendable (Bool) -> Void) -> Void]

  init(_ job: Job) {
    self.job = job
    conditions = [{ done in done(true) }, { done in job.later { done(true) } }]
    super.init()
  }

  private(set) var state: State {
    get { lock.withLock { currentState } }
    set {
      let keys = ["isReady", "isExecuting", "isFinished"]
      for key in keys { willChangeValue(forKey: key) }
      lock.withLock {
        precondition(currentState < newValue, "from \(currentState) to \(newValue)")
        currentState = newValue
      }
      for key in keys.reversed() { didChangeValue(forKey: key) }
    }
  }

  override var isReady: Bool {
    switch state {
    case .initialized: return isCancelled
    case .pending:
      if isCancelled { return true }
      if super.isReady { evaluateConditions() }
      return false
    case .evaluatingConditions: return isCancelled
    case .ready, .executing, .finished: return super.isReady || isCancelled
    }
  }

  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  func willEnqueue() { state = .pending }

  private func evaluateConditions() {
    let isFirst = lock.withLock {
      defer { if currentState == .pending { currentState = .evaluatingConditions } }
      return currentState == .pending
    }
    guard isFirst else { return }
    let group = DispatchGroup()
    for condition in conditions {
      group.enter()
      condition { _ in group.leave() }
    }
    group.notify(queue: .global()) { self.becomeReady() }
  }

  private func becomeReady() {
    willChangeValue(forKey: "isReady")
    lock.withLock { if currentState == .evaluatingConditions { currentState = .ready } }
    didChangeValue(forKey: "isReady")
  }

  override func start() {
    if isCancelled { return finish() }
    state = .executing
    job.later {
      self.job.work(of: self)
      self.finish()
    }
  }

  private func finish() { state = .finished }
}

/// An operation that adds itself to a queue. The library reads its `isReady` when its dependency
/// has finished. The first such read evaluates a condition and adds the operation to the queue.
final class SelfEnqueueingOperation: Operation, @unchecked Sendable {
  /// The only dependency of the operation. The test adds it to a queue.
  let preparation = BlockOperation {}

  private let job: Job
  private let lock = ShapeLock()
  private var hasEvaluated = false

  init(_ job: Job) {
    self.job = job
    super.init()
    addDependency(preparation)
  }

  override var isReady: Bool {
    let isReady = super.isReady
    if isReady { evaluateOnce() }
    return isReady
  }

  private func evaluateOnce() {
    let isFirst = lock.withLock {
      defer { hasEvaluated = true }
      return !hasEvaluated
    }
    if isFirst { job.later { self.job.queue.addOperation(self) } }
  }

  override func main() { job.work(of: self) }
}

extension Shape {
  static let conditional = Shape(
    name: "conditional",
    summary: "conditions evaluated in `isReady`; a queue subclass calls `willEnqueue()`",
    makeQueue: { EnqueueingQueue() }, enqueue: { $1.addOperation($0) }
  ) { ConditionalOperation($0) }

  static let selfEnqueueing = Shape(
    name: "selfEnqueueing",
    summary: "`isReady` is read outside a queue, and its override adds the operation to one",
    enqueue: { operation, _ in
      guard let operation = operation as? SelfEnqueueingOperation else { return }
      preparations.addOperation(operation.preparation)
    }
  ) { SelfEnqueueingOperation($0) }

  private static let preparations = OperationQueue()
}
