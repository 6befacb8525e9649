// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An observer of the start and the finish of an operation.
protocol StepObserver: AnyObject, Sendable {
  func operationDidStart(_ operation: ObservedOperation)
  func operation(_ operation: ObservedOperation, didFinishWith errors: [any Error])
}

/// An observer that keeps the process awake while the operation runs, as a mobile system requires.
final class BackgroundObserver: StepObserver, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var isAwake = false

  init(_ job: Job) { self.job = job }

  func operationDidStart(_ operation: ObservedOperation) {
    if operation.isFinished { job.report("has started and is finished") }
    lock.withLock { isAwake = true }
  }

  func operation(_ operation: ObservedOperation, didFinishWith errors: [any Error]) {
    let wasAwake = lock.withLock {
      defer { isAwake = false }
      return isAwake
    }
    if !wasAwake { job.report("finishes without having started, or twice") }
    if operation.isCancelled, operation.errors.isEmpty {
      job.report("is cancelled without an error")
    }
  }
}

/// An operation that can be cancelled with an error, keeps its errors, and calls its observers on a
/// background queue.
final class ObservedOperation: Operation, @unchecked Sendable {
  struct CancelledError: Error {}

  enum State {
    case ready, executing, finishing, finished
  }

  private let job: Job
  private let observers: [any StepObserver]
  private let background = DispatchQueue(label: "observers", target: .global())
  private let lock = ShapeLock()
  private var current = State.ready
  private var gathered: [any Error] = []

  init(_ job: Job) {
    self.job = job
    observers = [BackgroundObserver(job)]
    super.init()
  }

  private(set) var state: State {
    get { lock.withLock { current } }
    set {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      lock.withLock { current = newValue }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  var errors: [any Error] { lock.withLock { gathered } }

  override var isExecuting: Bool { [.executing, .finishing].contains(state) }
  override var isFinished: Bool { state == .finished }

  override func cancel() { cancel(with: CancelledError()) }

  func cancel(with error: any Error) {
    lock.withLock { gathered.append(error) }
    super.cancel()
  }

  override func start() {
    state = .executing
    background.sync { for observer in observers { observer.operationDidStart(self) } }
    if isCancelled { return finish() }
    job.later {
      self.job.work(of: self)
      if self.job.index.isMultiple(of: 8) { self.cancel(with: CancelledError()) }
      self.finish()
    }
  }

  private func finish() {
    state = .finishing
    background.async {
      for observer in self.observers { observer.operation(self, didFinishWith: self.errors) }
      self.state = .finished
    }
  }
}

extension Shape {
  static let observed = Shape(
    name: "observed",
    summary: "cancelled with errors; observers of its own called in the background"
  ) { ObservedOperation($0) }
}
