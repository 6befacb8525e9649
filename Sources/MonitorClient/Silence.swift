// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Detects whether a process answers, without a socket and without a clock. A process that has sent
/// nothing for a while receives a ping. If it does not answer, it is reported as silent.
///
/// A process without changes answers the ping. A stopped process does not, and neither does a
/// process whose machine has failed: the connection alone does not show these conditions.
struct Silence: Equatable {
  /// An action of the connection.
  enum Action: Equatable {
    /// Send a ping to the process.
    case ping
    /// Deliver this message to the viewer.
    case post(MonitorMessage)
  }

  /// The time without messages after which the process receives a ping.
  static let quietTime = Duration.seconds(1)
  /// The time without an answer after which the process is reported as silent.
  static let patience = Duration.seconds(1)
  /// A check with at least this delay is ignored: the viewer itself was stopped, and has not yet
  /// read the messages that arrived meanwhile.
  private static let lateness = Duration.milliseconds(500)
  /// Whether the previous check was delayed. Otherwise, no check would count on a loop that is
  /// always late.
  private var wasLate = false

  /// The time of the next check.
  private(set) var nextLook: MonitorTime
  private var lastHeard: MonitorTime
  private var isAsked = false
  private var isTold = false

  /// Creates the state after a greeting.
  init(at now: MonitorTime) {
    lastHeard = now
    nextLook = now + Self.quietTime
  }

  /// Handles received bytes.
  mutating func hear(at now: MonitorTime) -> [Action] {
    lastHeard = now
    isAsked = false
    defer { isTold = false }
    return isTold ? [.post(.silent(for: .zero))] : []
  }

  /// Handles the time of a check.
  mutating func look(at now: MonitorTime) -> [Action] {
    wasLate = !wasLate && now - nextLook > Self.lateness
    if wasLate {
      nextLook = now + Self.patience
      return []
    }
    guard isAsked else {
      let due = lastHeard + Self.quietTime
      nextLook = due > now ? due : now + Self.patience
      if due > now { return [] }
      isAsked = true
      return [.ping]
    }
    nextLook = now + Self.patience
    isTold = true
    return [.post(.silent(for: now - lastHeard))]
  }
}
