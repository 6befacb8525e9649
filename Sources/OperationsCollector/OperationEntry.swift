// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The collector's data about one operation. Used only by its thread.
final class OperationEntry {
  /// An operation that depends on this one.
  struct Dependent {
    let id: OperationReport.ID
    /// Whether this operation has not been counted as finished for the dependent.
    var isUnmet: Bool
  }

  /// The report for viewers.
  var report: OperationReport
  /// The record, which leads to the operation; `nil` after the operation has finished.
  var record: OperationRecord?
  /// The operations that depend on it, without duplicates, in the order in which they became known.
  /// Some may no longer be kept.
  var dependents: [Dependent] = []
  /// The number of its dependencies that count it among their unmet dependents.
  var unmetCount = 0
  /// Whether it has a high priority and waits.
  var isUrgent = false
  /// The number of its urgent dependents.
  var urgentDependentCount: Int32 = 0
  /// The priority with which it is counted as a ready operation that no urgent operation waits for;
  /// `nil` if it is not counted.
  var bystanderPriority: OperationPriority?
  /// The version of the reading in which it last changed.
  var version: UInt64

  init(_ report: OperationReport, version: UInt64) {
    self.report = report
    self.version = version
  }
}
