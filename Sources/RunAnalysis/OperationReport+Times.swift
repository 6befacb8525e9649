// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension OperationReport {
  /// The time from when it was added until it was ready: it waited for its dependencies, for exclusions, or
  /// for its own `isReady`. `nil` if one of the two is unknown.
  public var dependencyWait: Duration? { Self.time(from: added, to: becameReady) }

  /// The time from when it was ready until it started: it waited for a slot, or for its queue to be resumed.
  /// `nil` if one of the two is unknown.
  public var slotWait: Duration? { Self.time(from: becameReady, to: started) }

  /// The time from its start until its finish; `nil` if one of the two is unknown.
  public var work: Duration? { Self.time(from: started, to: finished) }

  private static func time(from start: MonitorTime?, to end: MonitorTime?) -> Duration? {
    guard let start, let end else { return nil }
    return max(.zero, end - start)
  }
}
