// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// An asynchronous operation of a program that finishes while its `start()` still blocks. `start()`
/// returns only after the operation has left its queue.
final class SteeredLingering: SteeredAsynchronous, @unchecked Sendable {
  override func start() {
    let wasCancelled = isCancelled
    super.start()
    if !wasCancelled { linger() }
  }

  private func linger() {
    flags.wait(for: "the finish of an operation whose start() is blocked", limit: 600) {
      $0.isFinished
    }
    // If operations deliberately finish too late, the tests have time limits of half a second. The
    // wait must be a little longer than this limit.
    let limit = role.finishesWithStart ? Duration.milliseconds(700) : .seconds(60)
    _ = poll(for: limit) { hasLeftQueue }
    if role.finishesWithStart { announceFinish() }
  }

  override func finish() {
    if flags.value.isFinished { return }
    // The operation reports its end while it holds the lock, so that no thread sees its finish before the report.
    let hasReported = flags.change { flags in
      if flags.hasReported, !flags.isFinished { role.reports.end(role.index) }
      defer { flags = Flags(isFinished: true) }
      return flags.hasReported
    }
    // The deliberate fault of the operation: it announces its finish only when `start()` returns.
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
