// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// An asynchronous operation with a non-recursive lock, which it holds while it announces a coming
/// change, and releases before it announces the completed change.
class PlainLockOperation: Operation, @unchecked Sendable {
  private struct Flags {
    var isExecuting = false
    var isFinished = false
  }

  var work: @Sendable () -> Void = {}

  private let lock = NSLock()
  private var flags = Flags()

  override var isExecuting: Bool { lock.withLock { flags.isExecuting } }
  override var isFinished: Bool { lock.withLock { flags.isFinished } }
  override var isAsynchronous: Bool { true }

  override func start() {
    if isCancelled { return finish() }
    lock.lock()
    willChangeValue(forKey: "isExecuting")
    flags.isExecuting = true
    lock.unlock()
    didChangeValue(forKey: "isExecuting")
    DispatchQueue.global().async {
      self.work()
      self.finish()
    }
  }

  private func finish() {
    lock.lock()
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    flags = Flags(isExecuting: false, isFinished: true)
    lock.unlock()
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
