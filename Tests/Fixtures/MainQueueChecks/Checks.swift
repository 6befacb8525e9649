// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Checks that a program makes of its own behavior. Failures are printed, one in each line, and the
/// exit status is 0 if all checks passed.
package final class Checks: Sendable {
  private let failureCount = Locked(0)

  /// Creates a list of checks in which none has failed.
  package init() {}

  /// Counts a failure and prints `what` if the condition is `false`.
  package func expect(_ condition: Bool, _ what: String) {
    if condition { return }
    failureCount.withLock { $0 += 1 }
    print("does not hold: \(what)")
  }

  /// Ends the program, with status 0 if all checks passed, otherwise 1.
  package func end() -> Never {
    print("checked")
    exit(failureCount.withLock { $0 } == 0 ? 0 : 1)
  }
}
