// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Who is watched, and whether it is heard.

extension Dashboard {
  /// Whether another process is watched.
  var isAttached: Bool {
    switch source {
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
  var isUnanswered: Bool { source == nil || isAttached && live.isSilent }

  /// How many operations the list would hold without a limit: of all that are kept, or of those that
  /// are known here where the monitor does not say.
  var matchCount: Int {
    isUnanswered || paused != nil ? rows.matchCount : shown.matchCount
  }

  /// How many operations there are to list, as far as that is known.
  var listableCount: Int { isUnanswered ? shown.operations.count : shown.keptCount }

  /// Takes in who is watched from now on: the same process as before, again, or another one.
  mutating func begin(_ hello: Hello) {
    let isSame = live.hello?.isSameProcess(as: hello) == true
    // While another one is being opened, the one that is watched may come back.
    let opened = opening.flatMap { isSame && $0 != source ? nil : $0 }
    if isSame, opened != .demo {
      greetAgain(hello)
    } else {
      // Before the first greeting there is nothing that could be mixed up, and keys that were pressed
      // since the start count.
      if live.hello != nil || opened != nil { startOver(with: opened ?? source, hello) }
      live.apply(.hello(hello))
      if source == .demo, !configuration.guidance.isEmpty {
        notice = Notice(configuration.guidance, lifetime: .seconds(20), at: now)
      }
    }
    endedAt = nil
    guard opened != nil else { return }
    opening = nil
    picker = nil
  }

  /// Goes on with the same process: its ids are the same, everything else is told anew.
  private mutating func greetAgain(_ hello: Hello) {
    live.apply(.hello(hello))
    mustWatchAnew = true
    // Its numbers count what this connection has told.
    events = EventSelection()
    tagsConfirmedBy = now + Self.confirmationTime
  }

  /// Within this time after a greeting the monitor tells of what is tagged, if it is still kept.
  static let confirmationTime = Duration.seconds(2)

  /// Forgets everything but how the user wants it to look.
  private mutating func startOver(with source: Source?, _ hello: Hello) {
    var dashboard = Dashboard(configuration: configuration)
    dashboard.source = source
    dashboard.picker = nil
    dashboard.size = size
    dashboard.refresh = refresh
    dashboard.showsMeters = showsMeters
    // The clock may be another machine's.
    dashboard.now = hello.anchor
    dashboard.mustWatchAnew = true
    self = dashboard
  }

  /// Notes that the connection is lost: nothing can be asked any more.
  mutating func noteDisconnection() {
    cancelKeys.disarm()
    guard question?.purpose == .cancel else { return }
    question = nil
    show("the connection is lost; nothing cancelled", isWarning: true)
  }

  /// Notes that nothing more will come: what was asked about has ended with it.
  mutating func noteEnd() {
    endedAt = now
    cancelKeys.disarm()
    guard let purpose = question?.purpose else { return }
    question = nil
    if purpose == .cancel { show("it has ended; nothing cancelled", isWarning: true) }
  }
}
