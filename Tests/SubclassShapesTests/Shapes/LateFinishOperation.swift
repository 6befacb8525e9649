// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that inherits `start()` and overrides `main()`. Its work continues after `main()`
/// has returned.
final class LateFinishOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var finished = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isAsynchronous: Bool { true }

  override var isFinished: Bool { lock.withLock { finished } }

  override func main() {
    job.begin()
    job.later {
      self.job.work(of: self)
      self.willChangeValue(forKey: "isFinished")
      self.lock.withLock { self.finished = true }
      self.didChangeValue(forKey: "isFinished")
    }
  }
}

/// An operation whose override of `start()` first calls `super.start()`, and then continues as if
/// the operation had not finished.
final class SuperFirstOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var executing = false
  private var finished = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isExecuting: Bool {
    get { lock.withLock { executing } }
    set {
      willChangeValue(forKey: "isExecuting")
      lock.withLock { executing = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }

  override var isFinished: Bool {
    get { lock.withLock { finished } }
    set {
      willChangeValue(forKey: "isFinished")
      lock.withLock { finished = newValue }
      didChangeValue(forKey: "isFinished")
    }
  }

  override func start() {
    super.start()
    guard !isCancelled else {
      isFinished = true
      return
    }
    isExecuting = true
    job.later {
      self.job.work(of: self)
      self.isExecuting = false
      self.isFinished = true
    }
  }

  // `main()` only records that the base class has not skipped the operation.
  override func main() { job.begin() }
}

extension Shape {
  static let lateFinish = Shape(
    name: "lateFinish",
    summary: "`main()` returns before the work is over; `isFinished` is announced later",
    staysUnfinishedWhenSkipped: true
  ) { LateFinishOperation($0) }

  static let superFirst = Shape(
    name: "superFirst",
    summary: "`start()` calls `super.start()`, then sets `isExecuting` and works on",
    staysUnfinishedWhenSkipped: true
  ) { SuperFirstOperation($0) }
}
