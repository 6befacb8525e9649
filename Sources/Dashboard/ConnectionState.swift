// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The watched source, and the dashboard's interest: the data that it has requested from the source.
struct ConnectionState: Sendable {
  /// The watched source; `nil` if the user has not selected one.
  var source: Source?
  /// The source that the program is opening; `nil` if the program is opening none.
  var opening: Source?
  /// Whether the program watches the source that it was opening. The next greeting is that of this source.
  var isOpened = false
  /// Whether all jobs of the first source have ended.
  var haveJobsEnded = false
  /// When the watched source ended; `nil` if it has not ended.
  var endedAt: MonitorTime?
  /// The interest (the requested data) that the dashboard has last sent to the monitor.
  var interest = Interest()
  /// Whether the dashboard must send its interest again, even if the interest has not changed, because the
  /// monitor has sent a new greeting.
  var mustWatchAgain = false
}

// The watched source, and whether updates arrive from it.

extension Dashboard {
  /// Whether the operations of the watched source are the jobs of a file.
  var showsJobs: Bool { configuration.runsJobs && connection.source == configuration.source }

  /// Whether the dashboard watches a process other than its own.
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

  /// Whether all watched processes are read-only. If several processes are watched, the greeting of each
  /// process is used, because the mode of a process may change after the first greeting.
  private var saysReadOnly: Bool {
    live.processes.isEmpty
      ? live.hello?.isReadOnly == true : live.processes.allSatisfy(\.hello.isReadOnly)
  }

  /// Whether commands are refused.
  var isReadOnly: Bool { refusal != nil }

  /// Whether the monitor does not answer requests of the dashboard. The dashboard then shows only the
  /// operations that it has already received.
  ///
  /// A demo that has ended still answers requests.
  var isUnanswered: Bool { connection.source == nil || isAttached && live.isSilent }

  /// The number of operations that the list would have without a limit. If the monitor does not answer, only
  /// operations that the dashboard has already received are counted.
  var matchCount: Int {
    isUnanswered || paused != nil ? list.rows.matchCount : shown.matchCount
  }

  /// The number of operations that a list without a filter would have: all operations that the monitor keeps
  /// or, if the monitor does not answer, the operations that the dashboard has already received.
  var listableCount: Int { isUnanswered ? shown.operations.count : shown.keptCount }

  /// Begins to watch a process, which may be the same process as before.
  mutating func begin(_ hello: Hello) {
    let isSame = live.hello?.isSameProcess(as: hello) == true
    // While another source is being opened, the watched process may send another greeting.
    let isOld = isSame && !connection.isOpened
    let opened = connection.opening.flatMap { isOld && $0 != connection.source ? nil : $0 }
    connection.isOpened = false
    if isSame, opened == nil || opened == connection.source && opened != .demo {
      greetAgain(hello)
    } else {
      // When the first greeting arrives, the dashboard has no state of another process to remove. Keys that
      // the user has already pressed keep their effect.
      if live.hello != nil || opened != nil { startOver(with: opened ?? connection.source, hello) }
      live.apply(.hello(hello))
    }
    connection.endedAt = nil
    guard opened != nil else { return }
    connection.opening = nil
    picker = nil
  }

  /// Continues with the same process after a new greeting. The operations keep their ids, and the monitor
  /// reports everything else again.
  private mutating func greetAgain(_ hello: Hello) {
    live.apply(.hello(hello))
    connection.mustWatchAgain = true
    // The events of a new connection are numbered from 1 again, so the selection in the log of events is
    // removed.
    events = EventSelection()
    tags.confirmedBy = now + Self.confirmationTime
  }

  /// The time that the monitor has after a greeting to report the tagged operations that it still keeps.
  static let confirmationTime = Duration.seconds(2)

  /// Resets the dashboard. It keeps the settings, the size of the screen, the refresh rate, and whether the rows
  /// with counts and rates are shown.
  private mutating func startOver(with source: Source?, _ hello: Hello) {
    var configuration = configuration
    configuration.settings = settings
    configuration.settingsRemark = ""
    var dashboard = Dashboard(configuration: configuration)
    dashboard.connection.source = source
    dashboard.picker = nil
    dashboard.screen.size = screen.size
    dashboard.screen.refresh = screen.refresh
    dashboard.screen.showsMeters = screen.showsMeters
    dashboard.unsavedSettings = unsavedSettings
    dashboard.setup = setup
    // The dashboard sets its current time from the greeting, because the new process may run on another
    // machine, with another clock.
    dashboard.now = hello.anchor
    dashboard.connection.mustWatchAgain = true
    self = dashboard
  }

  /// Deactivates the cancel keys and closes a question about a command, because the connection is lost and
  /// commands cannot be sent.
  mutating func noteDisconnection() {
    queueRequests = QueueRequests()
    list.cancelKeys.disarm()
    guard let words = prompts.question?.purpose.refusalWords else { return }
    prompts.question = nil
    show("\(words): the connection is lost", isWarning: true)
  }

  /// Notes that the source has ended, and closes an open question about its operations.
  mutating func noteEnd() {
    connection.endedAt = now
    queueRequests = QueueRequests()
    list.cancelKeys.disarm()
    guard let purpose = prompts.question?.purpose else { return }
    prompts.question = nil
    if let words = purpose.refusalWords {
      show("\(words): the process has ended", isWarning: true)
    }
  }
}
