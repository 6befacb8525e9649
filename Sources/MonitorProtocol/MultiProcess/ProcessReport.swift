// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of one process of several processes that a viewer watches as one.
///
/// The viewer computes this report from the messages of the processes. No process sends it.
public struct ProcessReport: Sendable, Equatable, Identifiable {
  /// The possible numbers of processes. A viewer watches at most 16 processes as one.
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

  /// The position of the process on the command line, from 1 on. The ids of its operations and
  /// queues include this number.
  public let number: Int
  /// The greeting of the process, with times converted to the viewer's clock.
  public var hello: Hello
  /// The state of the connection to this process.
  public var connection: Connection
  /// The counts of all queues of the process together, from its last update. After the process has
  /// ended, the counts include only finished and cancelled operations.
  public var counts: StateCounts
  /// The number of state changes that the process did not record.
  public var lostChanges: UInt64
  /// The time of the last update of the process; `nil` before the first update.
  public var lastUpdate: MonitorTime?

  /// The number of the process, which identifies the report.
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

  /// Whether the viewer has no connection to the process at present. Its last update is then the
  /// last known state.
  public var isGone: Bool {
    switch connection {
    case .live, .silent: false
    case .reconnecting, .ended: true
    }
  }

  /// The time at which the viewer detected the end of the process; `nil` if the process has not
  /// ended.
  public var ended: MonitorTime? {
    if case .ended(let time, _) = connection { time } else { nil }
  }

  /// The reason why the process sends no further messages; `nil` if the process has not ended.
  public var endedReason: String? {
    if case .ended(_, let reason) = connection { reason } else { nil }
  }

  /// The last moment at which the state of the process is known: its end or its last update. `nil`
  /// if the process is connected, or if it never sent an update.
  public var standstill: MonitorTime? { isGone ? ended ?? lastUpdate : nil }
}
