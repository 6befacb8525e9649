// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Whether a process is heard, without a socket and without a clock: who has said nothing for a while is
/// asked whether it is there, and then said to be silent.
///
/// One that has nothing to tell answers. One that is stopped does not, nor one whose machine is gone: the
/// connection alone does not show that.
struct Silence: Equatable {
  /// What the connection has to do.
  enum Action: Equatable {
    /// Ask the process whether it is there.
    case ping
    /// Tell the viewer this.
    case post(MonitorMessage)
  }

  /// Who says nothing for so long is asked.
  static let quietTime = Duration.seconds(1)
  /// Who does not answer for so long is said to be silent.
  static let patience = Duration.seconds(1)
  /// A look that comes so much too late has been held up: the viewer itself was stopped, and what has come
  /// meanwhile is not read yet.
  private static let lateness = Duration.milliseconds(500)
  /// Whether the look before was held up: on a loop that is always late none would count otherwise.
  private var wasLate = false

  /// When to look next.
  private(set) var nextLook: MonitorTime
  private var lastHeard: MonitorTime
  private var isAsked = false
  private var isTold = false

  /// The process has just greeted.
  init(at now: MonitorTime) {
    lastHeard = now
    nextLook = now + Self.quietTime
  }

  /// Something has come from the process.
  mutating func hear(at now: MonitorTime) -> [Action] {
    lastHeard = now
    isAsked = false
    defer { isTold = false }
    return isTold ? [.post(.silent(for: .zero))] : []
  }

  /// The time for a look has come.
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
