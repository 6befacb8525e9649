// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// The base class for asynchronous operations that many libraries have: its `start()` does not call
/// `super`, subclasses override `execute()`, and each subclass calls `finish()` once.
class ConcurrentOperation: Operation, @unchecked Sendable {
  fileprivate let job: Job
  private let lock = ShapeLock()
  private var executing = false
  private var finished = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  final override var isAsynchronous: Bool { true }
  final override var isExecuting: Bool { lock.withLock { executing } }
  final override var isFinished: Bool { lock.withLock { finished } }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(forKey: "isExecuting")
    lock.withLock { executing = true }
    didChangeValue(forKey: "isExecuting")
    execute()
  }

  /// Does the work, and calls `finish()` at its end or later.
  func execute() { fatalError("to be overridden") }

  final func finish() {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    lock.withLock {
      executing = false
      finished = true
    }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}

/// An operation that runs a block. The block receives a closure as its argument, and calls the
/// closure at the end of its work.
final class AsyncBlockOperation: ConcurrentOperation, @unchecked Sendable {
  typealias Block = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  private let block: Block

  init(_ job: Job, block: @escaping Block) {
    self.block = block
    super.init(job)
  }

  override func execute() {
    block {
      self.job.work(of: self)
      self.finish()
    }
  }
}

/// An operation that does its work in a Swift concurrency task.
final class TaskOperation: ConcurrentOperation, @unchecked Sendable {
  override func execute() {
    Task {
      await Task.yield()
      self.job.work(of: self)
      self.finish()
    }
  }
}

/// An operation that finishes on the main queue, like an operation that changes a user interface.
final class MainQueueOperation: ConcurrentOperation, @unchecked Sendable {
  override func execute() {
    job.work(of: self)
    DispatchQueue.main.async { self.finish() }
  }
}

/// An operation that finishes when its work ends or when a timer fires. The work of every sixteenth
/// operation never ends.
final class TimeLimitedOperation: ConcurrentOperation, @unchecked Sendable {
  private let endLock = ShapeLock()
  private var hasEnded = false
  private let timer = DispatchSource.makeTimerSource(queue: .global())

  override func execute() {
    let isEndless = job.index.isMultiple(of: 16)
    timer.setEventHandler { [weak self] in self?.end() }
    timer.schedule(deadline: .now() + (isEndless ? .microseconds(500) : .seconds(60)))
    timer.activate()
    if !isEndless { job.later { self.end() } }
  }

  deinit {
    // A dispatch source must be activated before it is released.
    timer.activate()
    timer.cancel()
  }

  private func end() {
    let isFirst = endLock.withLock {
      defer { hasEnded = true }
      return !hasEnded
    }
    guard isFirst else { return }
    timer.cancel()
    job.work(of: self)
    finish()
  }
}

/// An operation that starts asynchronous work in `main()`, and blocks until a callback reports the
/// end of the work.
final class SemaphoreOperation: Operation, @unchecked Sendable {
  private let job: Job

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override func main() {
    let semaphore = DispatchSemaphore(value: 0)
    job.later {
      self.job.work(of: self)
      semaphore.signal()
    }
    semaphore.wait()
  }
}

extension Shape {
  static let asyncBlock = Shape(
    name: "asyncBlock", summary: "`start()` without `super`; a block calls back when it has done"
  ) { job in AsyncBlockOperation(job) { done in job.later(done) } }

  static let task = Shape(
    name: "task", summary: "the same, and the work is a `Task`"
  ) { TaskOperation($0) }

  static let mainQueue = Shape(
    name: "mainQueue", summary: "the same, finished on the main queue"
  ) { MainQueueOperation($0) }

  static let timeLimited = Shape(
    name: "timeLimited", summary: "the same, with a dispatch timer as a time limit"
  ) { TimeLimitedOperation($0) }

  static let semaphore = Shape(
    name: "semaphore", summary: "`main()` waits for a semaphore"
  ) { SemaphoreOperation($0) }
}
