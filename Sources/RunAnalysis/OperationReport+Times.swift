// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension OperationReport {
  /// From when it was added until it was ready: it waited for its dependencies, for what it excludes, or
  /// for itself. `nil` where one of the two is not known.
  public var dependencyWait: Duration? { Self.time(from: added, to: becameReady) }

  /// From when it was ready until it started: it waited for a slot, or for its queue to be resumed. `nil`
  /// where one of the two is not known.
  public var slotWait: Duration? { Self.time(from: becameReady, to: started) }

  /// From when it started until it finished; `nil` where one of the two is not known.
  public var work: Duration? { Self.time(from: started, to: finished) }

  private static func time(from start: MonitorTime?, to end: MonitorTime?) -> Duration? {
    guard let start, let end else { return nil }
    return max(.zero, end - start)
  }
}
