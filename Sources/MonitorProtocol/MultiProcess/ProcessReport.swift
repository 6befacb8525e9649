// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of one of several processes that are watched as one.
///
/// A viewer of several processes computes it from their messages. No process sends it.
public struct ProcessReport: Sendable, Equatable, Identifiable {
  /// The possible numbers of processes. At most this many are watched as one.
  public static let numbers = 1...16

  /// The state of the connection to a process.
  public enum Connection: Sendable, Equatable {
    /// The process answers.
    case live
    /// The process has not answered and has sent nothing for this duration.
    case silent(for: Duration)
    /// The connection was lost, and the viewer reconnects.
    case reconnecting
    /// The process ended at this moment. The sentence gives the reason.
    case ended(at: MonitorTime, reason: String)
  }

  /// Its position on the command line, from 1 on. The ids of its operations and queues include it.
  public let number: Int
  /// Its greeting, with times of the viewer's clock.
  public var hello: Hello
  /// The state of the connection.
  public var connection: Connection
  /// The last received counts of all its queues together. After the process has ended, only those
  /// of the finished and cancelled operations.
  public var counts: StateCounts
  /// The number of state changes that its history did not record.
  public var lostChanges: UInt64
  /// The time of its last update; `nil` before the first one.
  public var lastUpdate: MonitorTime?

  /// The number.
  public var id: Int { number }

  /// Creates a report of a connected process that has sent no update.
  public init(
    number: Int, hello: Hello, connection: Connection = .live, counts: StateCounts = StateCounts(),
    lostChanges: UInt64 = 0, lastUpdate: MonitorTime? = nil
  ) {
    self.number = number
    self.hello = hello
    self.connection = connection
    self.counts = counts
    self.lostChanges = lostChanges
    self.lastUpdate = lastUpdate
  }

  /// Whether the process sends nothing at present. Its last update is the last known state.
  public var isGone: Bool {
    switch connection {
    case .live, .silent: false
    case .reconnecting, .ended: true
    }
  }

  /// The time at which the end of the process was detected; `nil` if it has not ended.
  public var ended: MonitorTime? {
    if case .ended(let time, _) = connection { time } else { nil }
  }

  /// The reason why the process sends nothing further; `nil` if it has not ended.
  public var endedReason: String? {
    if case .ended(_, let reason) = connection { reason } else { nil }
  }

  /// The end of the known time of the process; `nil` if the process is connected, or if nothing was
  /// ever known.
  public var standstill: MonitorTime? { isGone ? ended ?? lastUpdate : nil }
}
