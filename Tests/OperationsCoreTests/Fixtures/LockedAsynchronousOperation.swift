// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport

/// An asynchronous operation in a common style. It has its own flags, which a recursive lock
/// protects, and announces changes while it holds the lock. Its `cancel()` does not call `super`,
/// and finishes the operation immediately, even before the operation's start.
class LockedAsynchronousOperation: Operation, @unchecked Sendable {
  private struct Flags {
    var isCancelled = false
    var isExecuting = false
    var isFinished = false
  }

  private let flagsLock = RecursiveLock()
  private var flags = Flags()
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void = {}) {
    self.work = work
    super.init()
  }

  override var isFinished: Bool { flagsLock.withLock { flags.isFinished } }
  override var isExecuting: Bool { flagsLock.withLock { flags.isExecuting } }
  override var isCancelled: Bool { flagsLock.withLock { flags.isCancelled } }
  override var isAsynchronous: Bool { true }

  override func start() {
    flagsLock.withLock {
      if flags.isCancelled { return finish() }
      willChangeValue(forKey: "isExecuting")
      flags.isExecuting = true
      didChangeValue(forKey: "isExecuting")
      DispatchQueue.global().async { self.run() }
    }
  }

  override func cancel() {
    flagsLock.withLock {
      if flags.isCancelled { return }
      willChangeValue(forKey: "isCancelled")
      flags.isCancelled = true
      didChangeValue(forKey: "isCancelled")
      finish()
    }
  }

  private func run() {
    if isCancelled { return }
    work()
    if isCancelled { return }
    flagsLock.withLock { finish() }
  }

  /// Finishes the operation. The caller must hold the lock.
  private func finish() {
    let finishes = !flags.isFinished
    let stopsExecuting = flags.isExecuting
    if finishes { willChangeValue(forKey: "isFinished") }
    if stopsExecuting { willChangeValue(forKey: "isExecuting") }
    flags.isFinished = true
    flags.isExecuting = false
    if stopsExecuting { didChangeValue(forKey: "isExecuting") }
    if finishes { didChangeValue(forKey: "isFinished") }
  }
}
