// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that has its own cancelled flag. Its `cancel()` sets the flag and does not call
/// `super`. Its `main()` checks the flag, and cleans up whether the flag is set or not.
final class OwnCancelFlagOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var cancelled = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isCancelled: Bool { lock.withLock { cancelled } }

  override func cancel() {
    willChangeValue(forKey: "isCancelled")
    lock.withLock { cancelled = true }
    didChangeValue(forKey: "isCancelled")
  }

  override func main() { job.work(of: self) }
}

/// An operation like ``OwnCancelFlagOperation``, but its `main()` finishes the operation later.
final class OwnFlagsOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let lock = ShapeLock()
  private var cancelled = false
  private var executing = false
  private var finished = false

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isCancelled: Bool { lock.withLock { cancelled } }
  override var isExecuting: Bool { lock.withLock { executing } }
  override var isFinished: Bool { lock.withLock { finished } }

  override func cancel() {
    willChangeValue(forKey: "isCancelled")
    lock.withLock { cancelled = true }
    didChangeValue(forKey: "isCancelled")
  }

  override func main() {
    willChangeValue(forKey: "isExecuting")
    lock.withLock { executing = true }
    didChangeValue(forKey: "isExecuting")
    if isCancelled { return cleanUpAndFinish() }
    job.later { self.cleanUpAndFinish() }
  }

  private func cleanUpAndFinish() {
    job.work(of: self)
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

extension Shape {
  static let ownCancelFlag = Shape(
    name: "ownCancelFlag",
    summary: "`isCancelled` and `cancel()` overridden without `super`; `main()` cleans up",
    worksWhenCancelled: true
  ) { OwnCancelFlagOperation($0) }

  static let ownFlags = Shape(
    name: "ownFlags",
    summary: "the same, and the clean-up announces `isFinished`, later",
    worksWhenCancelled: true
  ) { OwnFlagsOperation($0) }
}
