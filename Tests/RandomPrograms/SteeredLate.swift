// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An operation of a program whose `main()` returns before the work is over: it overrides `main()` and
/// `isFinished`, keeps the base class's `start()`, and announces its finish later.
final class SteeredLate: SteeredOperation, SteeredByProgram, @unchecked Sendable {
  private struct Flags {
    var hasBegun = false
    var isFinished = false
  }

  private let flags = Monitored(Flags())

  override var isFinished: Bool {
    let flags = flags.value
    if flags.isFinished { return true }
    // If the operation was cancelled before its start, `main()` does not run, and the base class
    // finishes the operation.
    return !flags.hasBegun || role.finishesWithMain ? super.isFinished : false
  }

  override func main() {
    let endsByItself = flags.change { flags in
      if flags.isFinished { return false }
      flags.hasBegun = true
      return role.reports.begin(role.index, keeping: self)
    }
    if endsByItself { role.finishSomewhere(self) }
  }

  func finish() {
    if flags.value.isFinished { return }
    willChangeValue(forKey: "isFinished")
    // The operation reports its end while it holds the lock, so that no thread sees its finish before the report.
    flags.change { flags in
      if flags.hasBegun, !flags.isFinished { role.reports.end(role.index) }
      flags.isFinished = true
    }
    didChangeValue(forKey: "isFinished")
  }
}
