// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

extension OperationReport {
  /// The time from adding the operation until it was ready; `nil` if one of the two moments is unknown.
  /// During this time the operation waited for its dependencies, for exclusions, or for its own `isReady`.
  public var dependencyWait: Duration? { Self.time(from: added, to: becameReady) }

  /// The time from when the operation was ready until it started; `nil` if one of the two moments is unknown.
  /// During this time the operation waited for a slot, or for its queue to be resumed.
  public var slotWait: Duration? { Self.time(from: becameReady, to: started) }

  /// The time from the operation's start until its finish; `nil` if one of the two moments is unknown, or if
  /// the operation was cancelled before it started.
  public var work: Duration? { neverRan ? nil : Self.time(from: started, to: finished) }

  private static func time(from start: MonitorTime?, to end: MonitorTime?) -> Duration? {
    guard let start, let end else { return nil }
    return max(.zero, end - start)
  }
}
