// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What the telemetry wants to be told of.
enum TelemetryInterest {
  /// As many operations as the monitor keeps of those that are over.
  static let operationLimit = 10_000

  /// Lost history is left out, since no history is wanted.
  static let warningKinds = MonitorWarning.Kind.usual.subtracting([.historyLost])

  /// What is over. What is not is told of by the queues' counts, however much it is.
  static func make(wantsWarnings: Bool) -> Interest {
    var interest = Interest(filter: isOver, rowLimit: operationLimit)
    interest.warningKinds = wantsWarnings ? warningKinds : []
    return interest
  }

  private static var isOver: OperationFilter {
    do {
      return try OperationFilter("state:finished|state:cancelled")
    } catch {
      // Without it everything would be told.
      preconditionFailure("The filter of the telemetry cannot be read: \(error)")
    }
  }
}
