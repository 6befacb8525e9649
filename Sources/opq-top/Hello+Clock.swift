// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsMonitor

extension Hello {
  /// How far the clock of who greets is ahead of this process's: nothing on the same machine, and else
  /// what it says of itself, less the time that the greeting took.
  ///
  /// - Parameters:
  ///   - now: The present time on this process's clock.
  ///   - bootID: This machine's.
  /// - Returns: What to add to a time of this process's.
  func clockLead(at now: MonitorTime, bootID: String = ProcessStart.bootID) -> Duration {
    self.bootID == bootID ? .zero : anchor - now
  }
}
