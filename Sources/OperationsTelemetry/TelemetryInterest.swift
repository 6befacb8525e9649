// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The data that the telemetry requests from the monitor.
enum TelemetryInterest {
  /// The maximum number of ended operations in an update. It is the number of ended operations that
  /// the monitor keeps.
  static let operationLimit = 10_000

  /// The kinds of warnings that the telemetry reports. Warnings about missing events are omitted,
  /// because the telemetry does not use events.
  static let warningKinds = MonitorWarning.Kind.usual.subtracting([.historyLost])

  /// Returns an interest that requests only finished and cancelled operations. For all other
  /// operations, the telemetry uses only the counts of the queues.
  static func make(wantsWarnings: Bool) -> Interest {
    var interest = Interest(filter: isOver, rowLimit: operationLimit)
    interest.warningKinds = wantsWarnings ? warningKinds : []
    return interest
  }

  private static var isOver: OperationFilter {
    do {
      return try OperationFilter("state:finished|state:cancelled")
    } catch {
      // `OperationFilter` never throws here, because the text of the filter is a valid constant.
      // Without the filter, every operation would be reported.
      preconditionFailure("invalid telemetry filter: \(error)")
    }
  }
}
