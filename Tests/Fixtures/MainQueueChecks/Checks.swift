// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import OperationsCore

/// What a program has found out about itself. Told line by line; the exit status says whether all was
/// as it should be.
package final class Checks: Sendable {
  private let failureCount = Locked(0)

  /// Creates a list on which nothing has failed.
  package init() {}

  /// Notes and prints `what` where it does not hold.
  package func expect(_ condition: Bool, _ what: String) {
    if condition { return }
    failureCount.withLock { $0 += 1 }
    print("does not hold: \(what)")
  }

  /// Ends the program: status 0 where all held, else 1.
  package func end() -> Never {
    print("checked")
    exit(failureCount.withLock { $0 } == 0 ? 0 : 1)
  }
}
