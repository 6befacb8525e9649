// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The data that the telemetry requests from the monitor.
enum TelemetryInterest {
  /// The maximum number of ended operations in an update: as many as the monitor keeps.
  static let operationLimit = 10_000

  /// The kinds of warnings that are reported. Lost history is omitted because the telemetry does not use the
  /// history.
  static let warningKinds = MonitorWarning.Kind.usual.subtracting([.historyLost])

  /// Returns an interest in ended operations. The counts of the queues cover all other operations, however
  /// many there are.
  static func make(wantsWarnings: Bool) -> Interest {
    var interest = Interest(filter: isOver, rowLimit: operationLimit)
    interest.warningKinds = wantsWarnings ? warningKinds : []
    return interest
  }

  private static var isOver: OperationFilter {
    do {
      return try OperationFilter("state:finished|state:cancelled")
    } catch {
      // Without the filter every operation would be reported.
      preconditionFailure("invalid telemetry filter: \(error)")
    }
  }
}
