// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Detects whether a process answers. If a process has sent nothing for a while, the viewer sends
/// it a ping. If the process does not answer the ping, the viewer reports it as silent. This type
/// uses neither a socket nor a clock.
///
/// A process without changes answers the ping. A stopped process does not answer it, and a process
/// whose machine has failed does not answer it. The state of the connection does not show these
/// conditions.
struct Silence: Equatable {
  /// An action that the connection must carry out.
  enum Action: Equatable {
    /// The connection must send a ping to the process.
    case ping
    /// The connection must deliver this message to the viewer.
    case post(MonitorMessage)
  }

  /// The time without messages after which the process receives a ping.
  static let quietTime = Duration.seconds(1)
  /// The time without an answer after which the process is reported as silent.
  static let patience = Duration.seconds(1)
  /// A check that is late by more than this duration is ignored. A late check means that the viewer
  /// itself was stopped, and it may not have read the messages that arrived during that time.
  private static let lateness = Duration.milliseconds(500)
  /// Whether the previous check was late. The check after a late check always counts; otherwise no
  /// check would count on an event loop that is always late.
  private var wasLate = false

  /// The time of the next check.
  private(set) var nextLook: MonitorTime
  private var lastHeard: MonitorTime
  /// Whether a ping was requested, and no bytes have arrived since.
  private var isAsked = false
  private var isReported = false

  /// Creates the state of a connection that has just received the greeting.
  init(at now: MonitorTime) {
    lastHeard = now
    nextLook = now + Self.quietTime
  }

  /// Records that bytes have arrived from the process.
  mutating func hear(at now: MonitorTime) -> [Action] {
    lastHeard = now
    isAsked = false
    defer { isReported = false }
    return isReported ? [.post(.silent(for: .zero))] : []
  }

  /// Checks whether the process is silent.
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
    isReported = true
    return [.post(.silent(for: now - lastHeard))]
  }
}
