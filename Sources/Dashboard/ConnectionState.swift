// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The watched source, and the interest that its monitor has received.
struct ConnectionState: Sendable {
  /// The watched source; `nil` if the user has not selected one.
  var source: Source?
  /// The source that the program is opening; `nil` if it has answered.
  var opening: Source?
  /// When the watched source ended; `nil` if it has not.
  var endedAt: MonitorTime?
  /// The last interest that was sent to the monitor.
  var interest = Interest()
  /// Whether the interest must be sent even if it has not changed, because it was not sent since the
  /// greeting.
  var mustWatchAgain = false
}

// The watched source, and whether updates arrive from it.

extension Dashboard {
  /// Whether another process is watched.
  var isAttached: Bool {
    switch connection.source {
    case .process, .processes: true
    case .demo, .recording, nil: false
    }
  }

  /// The reason why commands are refused; `nil` if they are accepted.
  var refusal: CommandRefusal? {
    if replay != nil { return .recording }
    if live.endedReason != nil { return isAttached && live.processes.isEmpty ? .exited : .ended }
    if live.disconnectedReason != nil { return .disconnected }
    return configuration.isReadOnly || saysReadOnly ? .readOnly : nil
  }

  /// Whether the watched processes accept no commands. A process may change its mode after the common
  /// greeting of several processes.
  private var saysReadOnly: Bool {
    live.processes.isEmpty
      ? live.hello?.isReadOnly == true : live.processes.allSatisfy(\.hello.isReadOnly)
  }

  /// Whether commands are refused.
  var isReadOnly: Bool { refusal != nil }

  /// Whether requests of the dashboard get no answer. It then shows only the operations that it knows.
  ///
  /// A demo that has ended still answers.
  var isUnanswered: Bool { connection.source == nil || isAttached && live.isSilent }

  /// The number of operations that the list would have without a limit: of all kept operations or, if the
  /// monitor does not answer, of the operations that are known here.
  var matchCount: Int {
    isUnanswered || paused != nil ? list.rows.matchCount : shown.matchCount
  }

  /// The number of operations that can be listed, as far as it is known.
  var listableCount: Int { isUnanswered ? shown.operations.count : shown.keptCount }

  /// Begins to watch a process: the same process as before, again, or another one.
  mutating func begin(_ hello: Hello) {
    let isSame = live.hello?.isSameProcess(as: hello) == true
    // While another source is being opened, the watched process may send another greeting.
    let opened = connection.opening.flatMap { isSame && $0 != connection.source ? nil : $0 }
    if isSame, opened != .demo {
      greetAgain(hello)
    } else {
      // Before the first greeting, there is no state of another process to remove, and keys that were already
      // pressed keep their effect.
      if live.hello != nil || opened != nil { startOver(with: opened ?? connection.source, hello) }
      live.apply(.hello(hello))
      if connection.source == .demo, !configuration.guidance.isEmpty {
        screen.notice = Notice(configuration.guidance, lifetime: .seconds(20), at: now)
      }
    }
    connection.endedAt = nil
    guard opened != nil else { return }
    connection.opening = nil
    picker = nil
  }

  /// Continues with the same process: its ids are the same, and its monitor reports everything else again.
  private mutating func greetAgain(_ hello: Hello) {
    live.apply(.hello(hello))
    connection.mustWatchAgain = true
    // Events are numbered from 1 on each connection.
    events = EventSelection()
    tags.confirmedBy = now + Self.confirmationTime
  }

  /// Within this time after a greeting the monitor reports tagged operations that are still kept.
  static let confirmationTime = Duration.seconds(2)

  /// Resets everything except the settings of the display.
  private mutating func startOver(with source: Source?, _ hello: Hello) {
    var dashboard = Dashboard(configuration: configuration)
    dashboard.connection.source = source
    dashboard.picker = nil
    dashboard.screen.size = screen.size
    dashboard.screen.refresh = screen.refresh
    dashboard.screen.showsMeters = screen.showsMeters
    // The new process may use the clock of another machine.
    dashboard.now = hello.anchor
    dashboard.connection.mustWatchAgain = true
    self = dashboard
  }

  /// Notes that the connection is lost: requests are impossible.
  mutating func noteDisconnection() {
    list.cancelKeys.disarm()
    guard prompts.question?.purpose == .cancel else { return }
    prompts.question = nil
    show("not cancelled: the connection is lost", isWarning: true)
  }

  /// Notes that the source has ended: open questions about its operations end with it.
  mutating func noteEnd() {
    connection.endedAt = now
    list.cancelKeys.disarm()
    guard let purpose = prompts.question?.purpose else { return }
    prompts.question = nil
    if purpose == .cancel { show("not cancelled: the process has ended", isWarning: true) }
  }
}
