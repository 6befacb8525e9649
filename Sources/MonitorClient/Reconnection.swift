// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the connection to a process, without a socket and without a clock.
///
/// If the first connection fails, the session does not try again. If a later connection is lost,
/// the session reconnects with increasing delays while the same process may still exist.
struct Reconnection {
  /// An action that the session must carry out.
  enum Action: Equatable {
    /// The session must deliver this message to the viewer.
    case post(MonitorMessage)
    /// The process is connected. The session must send it the viewer's interest, which is the data
    /// that the viewer requests.
    case open
    /// The session must report that the process cannot be watched.
    case refuse(AttachError)
    /// The session must report that it has lost the process and cannot reconnect to it, although the process may still
    /// run.
    case lose(AttachError)
    /// The session must connect to the process after this delay.
    case retry(after: Duration)
    /// The session must close the connection permanently.
    case stop
  }

  /// The longest delay before an attempt to reconnect.
  static let longestDelay = Duration.seconds(5)
  private static let firstDelay = Duration.milliseconds(100)

  /// Whether the process is connected.
  private(set) var isOpen = false
  /// The greeting of the watched process; `nil` before the first one.
  private var hello: Hello?
  private var nextDelay = Reconnection.firstDelay
  /// The last reported reason for a lost connection; `nil` while connected.
  private var lastReason: String?
  private var isOver = false
  /// Whether the process sends a farewell message when it exits. Processes do this since version
  /// 1.2 of the protocol.
  private var saysFarewell = false
  /// The time of the last update; `nil` before the first one.
  private var lastUpdate: MonitorTime?
  /// The time at which the connection was lost; `nil` while connected.
  private var lostAt: MonitorTime?

  /// Handles a greeting of a process.
  ///
  /// - Parameters:
  ///   - hello: The greeting.
  ///   - versions: The versions of the protocol that the process understands.
  /// - Returns: The actions that the session must carry out.
  mutating func greet(_ hello: Hello, versions: ProtocolVersions = .current) -> [Action] {
    if let known = self.hello, !known.isSameProcess(as: hello) {
      return end("the process was replaced by another one")
    }
    self.hello = hello
    isOpen = true
    lastReason = nil
    lostAt = nil
    saysFarewell = versions.minor >= 2
    return [.post(.hello(hello)), .open]
  }

  /// Records that the process has sent an update. The next reconnection begins with the shortest
  /// delay again. The delays keep growing for a process that closes the connection directly after
  /// its greeting.
  mutating func noteUpdate(at now: MonitorTime) {
    nextDelay = Self.firstDelay
    lastUpdate = now
  }

  /// Handles a failed or lost connection.
  ///
  /// - Parameters:
  ///   - error: The reason.
  ///   - hasEnded: Whether the process is known to have ended.
  ///   - now: The present time.
  /// - Returns: The actions that the session must carry out.
  mutating func lose(_ error: AttachError, hasEnded: Bool, at now: MonitorTime) -> [Action] {
    if lostAt == nil { lostAt = now }
    guard !isOver else { return [] }
    guard hello != nil else {
      isOver = true
      return [.refuse(error)]
    }
    isOpen = false
    // A process that ends closes its socket shortly before its id disappears. Therefore the end of
    // the process may be known only at the next attempt to connect.
    if hasEnded { return end(endReason) }
    if error.isFinal { return [.lose(error)] + end() }
    defer { nextDelay = min(nextDelay * 2, Self.longestDelay) }
    // The viewer receives the first reason. It also receives a later message that the process has
    // too many viewers. Repeated failures to connect are not reported.
    let isNews = lastReason == nil || error.kind == .crowded && error.description != lastReason
    guard isNews else { return [.retry(after: nextDelay)] }
    lastReason = error.description
    return [.post(.disconnected(reason: error.description)), .retry(after: nextDelay)]
  }

  /// Decides whether the session connects again at the end of a delay.
  ///
  /// - Parameter hasEnded: Whether the process is known to have ended.
  /// - Returns: An empty array if the session should connect; otherwise the actions that end the
  ///   session.
  mutating func wakeUp(hasEnded: Bool) -> [Action] {
    hasEnded ? end(endReason) : []
  }

  /// The reason why a process has ended that has sent no farewell message.
  private var endReason: String {
    guard saysFarewell else { return "the process has exited" }
    let reason = "the process crashed or was killed"
    guard let lastUpdate, let lostAt else { return reason }
    return "\(reason), \(TimeText.duration(lostAt - lastUpdate)) after its last update"
  }

  /// Ends the session after the farewell message of a process that ends.
  mutating func end() -> [Action] {
    isOpen = false
    isOver = true
    return [.stop]
  }

  private mutating func end(_ reason: String) -> [Action] {
    [.post(.ended(reason: reason))] + end()
  }
}
