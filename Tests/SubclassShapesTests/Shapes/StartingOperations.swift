// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// A synchronous operation that overrides only `main()`.
final class PlainOperation: Operation, @unchecked Sendable {
  private let job: Job

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override func main() {
    if isCancelled { return }
    job.work(of: self)
  }
}

/// An operation that has its own flags. Its `start()` announces that it executes, and then calls
/// `super.start()` to run `main()`, which finishes the operation.
final class SuperLastOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var flags = (isExecuting: false, isFinished: false)

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isExecuting: Bool { lock.withLock { flags.isExecuting } }
  override var isFinished: Bool { lock.withLock { flags.isFinished } }

  private func set(isExecuting: Bool, isFinished: Bool) {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    lock.withLock { flags = (isExecuting, isFinished) }
    didChangeValue(forKey: "isFinished")
    didChangeValue(forKey: "isExecuting")
  }

  override func start() {
    if isCancelled { return set(isExecuting: false, isFinished: true) }
    set(isExecuting: true, isFinished: false)
    super.start()
  }

  override func main() {
    job.work(of: self)
    set(isExecuting: false, isFinished: true)
  }
}

/// An operation that announces changes with key paths instead of string keys.
final class KeyPathOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var flags = (isExecuting: false, isFinished: false)

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isExecuting: Bool { lock.withLock { flags.isExecuting } }
  override var isFinished: Bool { lock.withLock { flags.isFinished } }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(for: \.isExecuting)
    lock.withLock { flags.isExecuting = true }
    didChangeValue(for: \.isExecuting)
    job.later {
      self.job.work(of: self)
      self.finish()
    }
  }

  private func finish() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    lock.withLock { flags = (false, true) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

/// An operation that announces every change while it holds its recursive lock. Its `cancel()`
/// finishes it, even if it was not started.
final class LockedAnnouncementOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock(isRecursive: true)
  private var executing = false
  private var finished = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isExecuting: Bool { lock.withLock { executing } }
  override var isFinished: Bool { lock.withLock { finished } }

  override func start() {
    lock.withLock {
      guard !finished else { return }
      willChangeValue(forKey: "isExecuting")
      executing = true
      didChangeValue(forKey: "isExecuting")
      job.later {
        self.job.work(of: self)
        self.finish()
      }
    }
  }

  override func cancel() {
    super.cancel()
    finish()
  }

  private func finish() {
    lock.withLock {
      guard !finished else { return }
      let wasExecuting = executing
      if wasExecuting { willChangeValue(forKey: "isExecuting") }
      willChangeValue(forKey: "isFinished")
      executing = false
      finished = true
      didChangeValue(forKey: "isFinished")
      if wasExecuting { didChangeValue(forKey: "isExecuting") }
    }
  }
}

/// A subclass of `BlockOperation` whose initializer adds the blocks.
final class BlockSubclass: BlockOperation, @unchecked Sendable {
  init(_ job: Job) {
    super.init()
    addExecutionBlock { [weak self] in if let self { job.work(of: self) } }
    addExecutionBlock { [weak self] in
      if self?.isFinished == true { job.report("is finished before its blocks") }
    }
  }
}

/// An operation that must run on the main thread.
final class MainThreadOperation: Operation, @unchecked Sendable {
  private let job: Job

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override func main() {
    dispatchPrecondition(condition: .onQueue(.main))
    job.work(of: self)
  }
}

extension Shape {
  static let plain = Shape(
    name: "plain", summary: "`main()` overridden, nothing else"
  ) { PlainOperation($0) }

  static let superLast = Shape(
    name: "superLast", summary: "flags of its own, and `start()` that ends with `super.start()`",
    staysUnfinishedWhenSkipped: true
  ) { SuperLastOperation($0) }

  static let keyPath = Shape(
    name: "keyPath", summary: "changes announced by key paths"
  ) { KeyPathOperation($0) }

  static let lockedAnnouncement = Shape(
    name: "lockedAnnouncement",
    summary: "changes announced under a recursive lock; `cancel()` finishes",
    finishesInCancel: true
  ) { LockedAnnouncementOperation($0) }

  static let blockSubclass = Shape(
    name: "blockSubclass", summary: "a subclass of `BlockOperation` that adds its own blocks"
  ) { BlockSubclass($0) }

  static let onMainQueue = Shape(
    name: "onMainQueue", summary: "a queue with `underlyingQueue = .main`",
    makeQueue: {
      let queue = OperationQueue()
      queue.underlyingQueue = .main
      return queue
    }
  ) { MainThreadOperation($0) }
}
