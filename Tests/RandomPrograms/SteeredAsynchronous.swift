// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An asynchronous operation of a random program, in a careful style: it has its own flags,
/// announces changes of the flags without holding a lock, and inherits `cancel()`.
class SteeredAsynchronous: SteeredOperation, SteeredByProgram, @unchecked Sendable {
  struct Flags {
    var isExecuting = false
    var isFinished = false
    /// Whether the operation has reported that it began. If it has not, it does not report its end
    /// either.
    var hasReported = false
  }

  final let flags = Monitored(Flags())

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { flags.value.isExecuting }
  override var isFinished: Bool { flags.value.isFinished }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(forKey: "isExecuting")
    flags.change { $0.isExecuting = !$0.isFinished }
    didChangeValue(forKey: "isExecuting")
    // The operation reports that it has begun after the queue was notified. It does so while it
    // holds the lock, so that it cannot report its end first.
    let endsByItself = flags.change { flags in
      if flags.isFinished { return false }
      flags.hasReported = true
      return role.reports.begin(role.index, keeping: self)
    }
    if endsByItself { role.finishSomewhere(self) }
  }

  func finish() {
    if flags.value.isFinished { return }
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    // The operation reports its end while it holds the lock, so that no thread sees its finish before the report.
    flags.change { flags in
      if flags.hasReported { role.reports.end(role.index) }
      flags = Flags(isFinished: true)
    }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
