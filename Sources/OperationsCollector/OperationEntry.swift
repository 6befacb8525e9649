// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The collector's data about one operation. Only the collector's thread uses it.
final class OperationEntry {
  /// An operation that depends on the operation of this entry.
  struct Dependent {
    let id: OperationReport.ID
    /// Whether the dependent counts this operation among its unfinished dependencies.
    var isUnmet: Bool
  }

  /// The report of the operation that viewers receive.
  var report: OperationReport
  /// The record through which the collector finds the operation; `nil` after the operation has
  /// finished.
  var record: OperationRecord?
  /// The operations that depend on this operation, without duplicates, in the order in which the
  /// collector read them. The table may have removed some of them.
  var dependents: [Dependent] = []
  /// The number of this operation's dependencies that have not finished.
  var unmetCount = 0
  /// Whether this operation is urgent: it has a high priority and waits.
  var isUrgent = false
  /// The number of urgent operations that depend on this operation.
  var urgentDependentCount: Int32 = 0
  /// The priority under which ``PriorityInversions`` counts this operation among the ready
  /// operations that no urgent operation waits for; `nil` if it is not counted there.
  var bystanderPriority: OperationPriority?
  /// The number of the reading in which this operation last changed.
  var version: UInt64

  init(_ report: OperationReport, version: UInt64) {
    self.report = report
    self.version = version
  }
}
