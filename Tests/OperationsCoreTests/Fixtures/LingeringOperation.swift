// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore

/// An asynchronous operation in a common style: its `start()` does the work itself, and its
/// `cancel()` finishes the operation while the work still runs.
final class LingeringOperation: Operation, @unchecked Sendable {
  private struct Flags {
    var isExecuting = false
    var isFinished = false
  }

  private let flags = Locked(Flags())
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) {
    self.work = work
    super.init()
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { flags.withLock { $0.isExecuting } }
  override var isFinished: Bool { flags.withLock { $0.isFinished } }

  override func start() {
    willChangeValue(forKey: "isExecuting")
    flags.withLock { $0.isExecuting = true }
    didChangeValue(forKey: "isExecuting")
    work()
    finish()
  }

  override func cancel() {
    super.cancel()
    finish()
  }

  private func finish() {
    if isFinished { return }
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    flags.withLock { $0 = Flags(isFinished: true) }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
