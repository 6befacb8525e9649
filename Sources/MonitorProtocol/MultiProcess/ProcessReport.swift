// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What is known of one of several processes that are watched as one.
///
/// A viewer that watches several makes it of what each of them tells; no process sends it.
public struct ProcessReport: Sendable, Equatable, Identifiable {
  /// The numbers that processes may have: no more are watched as one.
  public static let numbers = 1...16

  /// Whether a process is heard.
  public enum Connection: Sendable, Equatable {
    /// It is.
    case live
    /// It does not answer, and has said nothing for so long.
    case silent(for: Duration)
    /// The connection is lost, and is being made anew.
    case reconnecting
    /// Nothing more will come, from this moment on, for the reason that this sentence gives.
    case ended(at: MonitorTime, reason: String)
  }

  /// Its place on the command line, from 1 on: the ids of what it has are numbered so.
  public let number: Int
  /// How it has greeted, with the times of the viewer's clock.
  public var hello: Hello
  /// Whether it is heard.
  public var connection: Connection
  /// The counts of all its queues together, as it told them last; where nothing more will come, only of
  /// what is over.
  public var counts: StateCounts
  /// How many changes of state its history has lost.
  public var lostChanges: UInt64
  /// When it told something last; `nil` before that.
  public var lastUpdate: MonitorTime?

  /// The number.
  public var id: Int { number }

  /// Creates a report of a process that is heard and has told nothing yet.
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

  /// Whether nothing comes from it: what was told last is all that is known.
  public var isGone: Bool {
    switch connection {
    case .live, .silent: false
    case .reconnecting, .ended: true
    }
  }

  /// When it was heard to have ended; `nil` where it was not.
  public var ended: MonitorTime? {
    if case .ended(let time, _) = connection { time } else { nil }
  }

  /// Why nothing more will come; `nil` where something may.
  public var endedReason: String? {
    if case .ended(_, let reason) = connection { reason } else { nil }
  }

  /// Up to when something is known of it; `nil` where that goes on, or nothing ever was.
  public var standstill: MonitorTime? { isGone ? ended ?? lastUpdate : nil }
}
