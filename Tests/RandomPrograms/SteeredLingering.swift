// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

/// An asynchronous operation of a program that finishes while its `start()` still blocks. `start()`
/// returns only after the operation has left its queue.
final class SteeredLingering: Operation, SteeredByProgram, @unchecked Sendable {
  private struct Flags {
    var isExecuting = false
    var isFinished = false
    /// Whether its beginning was reported. Otherwise, its end is not.
    var hasReported = false
  }

  private let role: Role
  private let flags = Monitored(Flags())

  init(_ role: Role) {
    self.role = role
    super.init()
  }

  deinit { role.wasDestroyed() }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { flags.value.isExecuting }
  override var isFinished: Bool { flags.value.isFinished }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(forKey: "isExecuting")
    flags.change { $0.isExecuting = !$0.isFinished }
    didChangeValue(forKey: "isExecuting")
    let endsByItself = flags.change { flags in
      if flags.isFinished { return false }
      flags.hasReported = true
      return role.reports.begin(role.index, keeping: self)
    }
    if endsByItself { role.finishSomewhere(self) }
    flags.wait(for: "the finish of an operation whose start() is blocked", limit: 600) {
      $0.isFinished
    }
    // Longer than the time limits of the tests that look for the fault.
    let limit = role.finishesWithStart ? Duration.milliseconds(700) : .seconds(60)
    _ = poll(for: limit) { hasLeftQueue }
    if role.finishesWithStart { announceFinish() }
  }

  func finish() {
    if flags.value.isFinished { return }
    let (hasReported, isFirst) = flags.change { flags in
      defer { flags = Flags(isFinished: true) }
      return (flags.hasReported, !flags.isFinished)
    }
    if hasReported, isFirst { role.reports.end(role.index) }
    // Deliberate fault: a finish that takes effect only when `start()` returns.
    if role.finishesWithStart, hasReported { return }
    announceFinish()
  }

  private func announceFinish() {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
