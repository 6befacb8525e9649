// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// What a collector keeps of one operation. Used by its thread alone.
final class OperationEntry {
  /// An operation that depends on this one.
  struct Dependent {
    let id: OperationReport.ID
    /// Whether it has not been told that this one has finished.
    var isUnmet: Bool
  }

  /// What viewers are told.
  var report: OperationReport
  /// Leads to the operation; `nil` once that is over.
  var record: OperationRecord?
  /// The operations that depend on it, each once, in the order in which they became known. Some may
  /// no longer be kept.
  var dependents: [Dependent] = []
  /// How many of its dependencies count it among those that wait.
  var unmetCount = 0
  /// Whether it has a high priority and waits.
  var isUrgent = false
  /// How many of those that depend on it are urgent.
  var urgentDependentCount: Int32 = 0
  /// With which priority it is counted among what is ready and matters to nobody urgent; `nil` where
  /// it is not.
  var bystanderPriority: OperationPriority?
  /// In which reading it was last changed.
  var version: UInt64

  init(_ report: OperationReport, version: UInt64) {
    self.report = report
    self.version = version
  }
}
