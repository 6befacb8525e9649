// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// An asynchronous operation that has its own flags but calls `super.start()`, which the
/// documentation forbids. Both the base class and the subclass then announce that the operation has
/// finished.
class SuperStartingOperation: Operation, @unchecked Sendable {
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
    guard !isCancelled else { return finish() }
    willChangeValue(forKey: "isExecuting")
    lock.withLock { flags.isExecuting = true }
    didChangeValue(forKey: "isExecuting")
    super.start()
  }

  override func main() {
    work()
    finish()
  }

  private func finish() {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    lock.withLock { flags = Flags(isExecuting: false, isFinished: true) }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
