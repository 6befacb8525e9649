// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What is watched, and what its monitor was asked for.
struct ConnectionState: Sendable {
  /// What is watched; `nil` if the user has yet to choose.
  var source: Source?
  /// What the program was asked to watch instead; `nil` if it has answered.
  var opening: Source?
  /// When what was watched ended; `nil` if it has not.
  var endedAt: MonitorTime?
  /// What the monitor was last asked for.
  var interest = Interest()
  /// Whether the monitor has to be asked in any case: since its greeting it was not.
  var mustWatchAgain = false
}

// Who is watched, and whether it is heard.

extension Dashboard {
  /// Whether another process is watched.
  var isAttached: Bool {
    switch connection.source {
    case .process, .processes: true
    case .demo, .recording, nil: false
    }
  }

  /// Why no command is taken; `nil` where they are.
  var refusal: CommandRefusal? {
    if replay != nil { return .recording }
    if live.endedReason != nil { return isAttached && live.processes.isEmpty ? .exited : .ended }
    if live.disconnectedReason != nil { return .disconnected }
    return configuration.isReadOnly || saysReadOnly ? .readOnly : nil
  }

  /// Whether who is watched takes no commands. Each of several processes may come to listen in another way
  /// than when all of them were greeted for.
  private var saysReadOnly: Bool {
    live.processes.isEmpty
      ? live.hello?.isReadOnly == true : live.processes.allSatisfy(\.hello.isReadOnly)
  }

  /// Whether commands are refused.
  var isReadOnly: Bool { refusal != nil }

  /// Whether nobody answers what the dashboard wants to know: what it shows is all that it knows.
  ///
  /// A demo that has ended still answers.
  var isUnanswered: Bool { connection.source == nil || isAttached && live.isSilent }

  /// How many operations the list would hold without a limit: of all that are kept, or of those that
  /// are known here where the monitor does not say.
  var matchCount: Int {
    isUnanswered || paused != nil ? list.rows.matchCount : shown.matchCount
  }

  /// How many operations there are to list, as far as that is known.
  var listableCount: Int { isUnanswered ? shown.operations.count : shown.keptCount }

  /// Takes in who is watched from now on: the same process as before, again, or another one.
  mutating func begin(_ hello: Hello) {
    let isSame = live.hello?.isSameProcess(as: hello) == true
    // While another one is being opened, the one that is watched may come back.
    let opened = connection.opening.flatMap { isSame && $0 != connection.source ? nil : $0 }
    if isSame, opened != .demo {
      greetAgain(hello)
    } else {
      // Before the first greeting there is nothing that could be mixed up, and keys that were pressed
      // since the start count.
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

  /// Goes on with the same process: its ids are the same, everything else is told anew.
  private mutating func greetAgain(_ hello: Hello) {
    live.apply(.hello(hello))
    connection.mustWatchAgain = true
    // Its numbers count what this connection has told.
    events = EventSelection()
    tags.confirmedBy = now + Self.confirmationTime
  }

  /// Within this time after a greeting the monitor tells of what is tagged, if it is still kept.
  static let confirmationTime = Duration.seconds(2)

  /// Forgets everything but how the user wants it to look.
  private mutating func startOver(with source: Source?, _ hello: Hello) {
    var dashboard = Dashboard(configuration: configuration)
    dashboard.connection.source = source
    dashboard.picker = nil
    dashboard.screen.size = screen.size
    dashboard.screen.refresh = screen.refresh
    dashboard.screen.showsMeters = screen.showsMeters
    // The clock may be another machine's.
    dashboard.now = hello.anchor
    dashboard.connection.mustWatchAgain = true
    self = dashboard
  }

  /// Notes that the connection is lost: nothing can be asked any more.
  mutating func noteDisconnection() {
    list.cancelKeys.disarm()
    guard prompts.question?.purpose == .cancel else { return }
    prompts.question = nil
    show("the connection is lost; nothing cancelled", isWarning: true)
  }

  /// Notes that nothing more will come: what was asked about has ended with it.
  mutating func noteEnd() {
    connection.endedAt = now
    list.cancelKeys.disarm()
    guard let purpose = prompts.question?.purpose else { return }
    prompts.question = nil
    if purpose == .cancel { show("it has ended; nothing cancelled", isWarning: true) }
  }
}
