// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An asynchronous operation of a program, in the careful style: it has its own flags, announces
/// them without holding a lock, and uses the base class's `cancel()`.
class SteeredAsynchronous: SteeredOperation, SteeredByProgram, @unchecked Sendable {
  struct Flags {
    var isExecuting = false
    var isFinished = false
    /// Whether its beginning was reported. Otherwise, its end is not.
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
    // The beginning is reported when the queue has been notified too. It is reported under the
    // lock, so that the end is reported after it.
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
    let hasReported = flags.change { flags in
      defer { flags = Flags(isFinished: true) }
      return flags.hasReported
    }
    if hasReported { role.reports.end(role.index) }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
