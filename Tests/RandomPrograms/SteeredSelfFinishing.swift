// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An asynchronous operation of a random program, in a common style: it has its own flags, whose
/// changes it announces under a recursive lock. Its `cancel()` does not call `super` and finishes
/// the operation immediately.
final class SteeredSelfFinishing: SteeredOperation, SteeredByProgram, @unchecked Sendable {
  private struct Flags {
    var isCancelled = false
    var isExecuting = false
    var isFinished = false
  }

  private let flagsLock = RecursiveLock()
  private var flags = Flags()

  override var isAsynchronous: Bool { true }
  override var isCancelled: Bool { flagsLock.withLock { flags.isCancelled } }
  override var isExecuting: Bool { flagsLock.withLock { flags.isExecuting } }
  override var isFinished: Bool { flagsLock.withLock { flags.isFinished } }

  override func start() {
    let endsByItself = flagsLock.withLock {
      if flags.isFinished { return false }
      willChangeValue(forKey: "isExecuting")
      flags.isExecuting = true
      didChangeValue(forKey: "isExecuting")
      return role.reports.begin(role.index, keeping: self)
    }
    if endsByItself { role.finishSomewhere(self) }
  }

  override func cancel() {
    flagsLock.withLock {
      if flags.isCancelled || flags.isFinished { return }
      willChangeValue(forKey: "isCancelled")
      flags.isCancelled = true
      didChangeValue(forKey: "isCancelled")
      finish()
    }
  }

  func finish() {
    flagsLock.withLock {
      if flags.isFinished { return }
      let wasExecuting = flags.isExecuting
      willChangeValue(forKey: "isFinished")
      if wasExecuting {
        role.reports.end(role.index)
        willChangeValue(forKey: "isExecuting")
      }
      flags.isFinished = true
      flags.isExecuting = false
      if wasExecuting { didChangeValue(forKey: "isExecuting") }
      didChangeValue(forKey: "isFinished")
    }
  }
}
