// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Combines several processes into one, without sockets. It merges their messages into one
/// consistent stream, and translates the viewer's requests for each process.
///
/// The processes are numbered from 1 on. Each process sends updates at its own times. The last
/// update of a process is valid until its next update, even after the process has ended.
struct ProcessMerge {
  /// A new interest (the data that the viewer requests) that must be sent to one process.
  struct Wish: Equatable {
    let process: Int
    let interest: Interest
  }

  /// The maximum time for which the first update to the viewer waits for processes that have not
  /// sent an update.
  static let patience = Duration.seconds(2)

  /// The state of one process.
  private struct Member {
    var translation: ProcessTranslation
    /// The report of the process; `nil` before its greeting.
    var report: ProcessReport?
    /// The last update of the process, without its operations and events.
    var latest = Update(time: MonitorTime(nanoseconds: 0))
    /// The operations of the process that the viewer has received.
    var operations: Set<OperationReport.ID> = []
    /// Whether the state is older than the last greeting. If it is, the next update contains the
    /// complete state.
    var isOutdated = false

    /// Returns the runs of the process since `start`. If the process is not connected, its current
    /// runs end at the last moment at which its state is known.
    func runs(since start: MonitorTime) -> RecentRuns? {
      guard var recent = latest.runs, let end = report?.standstill else { return latest.runs }
      for index in recent.runs.indices where recent.runs[index].finished == nil {
        recent.runs[index].finished = max(end, recent.runs[index].started)
      }
      let count = recent.runs.count
      recent.runs.removeAll { ($0.finished ?? end) < start }
      // Because of a limit, the process sends only its newest runs. If some of these are older than
      // `start`, all runs that it has not sent are older too, so they are not counted.
      if recent.runs.count < count { recent.count = recent.runs.count }
      return recent
    }

    /// Removes unfinished operations from the counts of a process that has ended, because they
    /// cannot continue.
    mutating func countOnlyWhatIsOver() {
      for index in latest.queues.indices {
        latest.queues[index].counts = latest.queues[index].counts.over
      }
      report?.counts = latest.queues.counts
      latest.runOrders = []
      latest.groups = latest.groups?.over
    }
  }

  private let bootID: String
  private let secondsSince1970AtZero: Double
  private var members: [Member]
  private var interest: Interest
  private var commands: SplitCommands
  private var events = MergedEvents()
  private var search = MergedSearch()
  private var ends = MergedEnds()
  // The changed operations, removed operations and command results that the viewer has not received
  // yet.
  private var changed: [OperationReport.ID: OperationReport] = [:]
  private var removed: Set<OperationReport.ID> = []
  private var results: [CommandResult] = []
  /// The log lines that the viewer has not received yet.
  private var logs = LogTails()
  private var hasNews = false
  /// The time when the viewer received the greeting; `nil` if it has not received it.
  private var greeted: MonitorTime?
  private var isOver = false

  /// Creates the state before any process has sent a message.
  ///
  /// - Parameters:
  ///   - count: The number of processes.
  ///   - interest: The interest that each session was opened with.
  ///   - bootID: The boot id of this machine.
  ///   - secondsSince1970AtZero: The time of day at which the viewer's monotonic clock was zero.
  init(count: Int, interest: Interest, bootID: String, secondsSince1970AtZero: Double) {
    self.bootID = bootID
    self.secondsSince1970AtZero = secondsSince1970AtZero
    self.interest = interest
    members = (1...count).map { Member(translation: ProcessTranslation(number: $0)) }
    commands = SplitCommands(count: count)
  }

  // MARK: The viewer

  /// Sets the viewer's interest, which is the data that the viewer requests. Returns the processes
  /// whose own interest changes, each with its new interest.
  mutating func watch(_ new: Interest, at now: MonitorTime) -> [Wish] {
    let old = interest
    interest = new
    search.begin(new.search, at: now)
    // The viewer receives an update even if no process receives a new interest, because the
    // requested dependents may already be known.
    hasNews = true
    let wishes = members.compactMap { member in
      let own = member.translation.own(new)
      return own == member.translation.own(old)
        ? nil : Wish(process: member.translation.number, interest: own)
    }
    if (old.eventLimit > 0) != (new.eventLimit > 0) || old.filter != new.filter {
      events.restart(asking: Set(wishes.map(\.process)))
    }
    return wishes
  }

  /// Handles a command of the viewer, and returns the commands for the processes.
  mutating func give(
    _ command: MonitorCommand, at now: MonitorTime
  ) -> [SplitCommands.Order] {
    let (orders, result) = commands.give(command, at: now)
    if let result { results.append(result) }
    return orders
  }

  /// Removes and returns the messages for the viewer. The result is empty until all processes have
  /// sent a greeting.
  mutating func takeMessages(at now: MonitorTime) -> [MonitorMessage] {
    let reports = members.compactMap(\.report)
    guard !isOver, reports.count == members.count else { return [] }
    var messages: [MonitorMessage] = []
    if greeted == nil {
      greeted = now
      messages.append(.hello(hello(of: reports, at: now)))
    }
    if search.note(searchAnswers, at: now) { hasNews = true }
    if hasNews, now >= begin ?? now {
      messages.append(.update(takeUpdate(of: reports, at: now)))
    }
    messages += (results + commands.takeOverdue(at: now)).map { .commandResult($0) }
    results = []
    if reports.allSatisfy({ $0.ended != nil }) {
      isOver = true
      messages.append(.ended(reason: "all \(reports.count) processes have ended"))
    }
    return messages
  }

  /// Returns the next time at which the viewer must receive a message, even if no process sends
  /// one; `nil` if no message is due.
  func deadline(after now: MonitorTime) -> MonitorTime? {
    let deadlines = [hasNews ? begin : nil, commands.deadline, search.deadline]
    return deadlines.compactMap { $0 }.filter { $0 > now }.min()
  }

  /// The time at which the viewer receives its first update even if some connected processes have
  /// not sent an update; `nil` if all connected processes have sent one.
  ///
  /// Without this wait, the totals would grow with the first update of each process, as if its
  /// operations had just finished. The wait is limited, so that the viewer sees the other processes
  /// even if one process never sends an update.
  private var begin: MonitorTime? {
    let isAwaited = members.contains {
      $0.report?.connection == .live && $0.report?.lastUpdate == nil
    }
    return isAwaited ? greeted.map { $0 + Self.patience } : nil
  }

  // MARK: The processes

  /// Handles a message of a process.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - process: The number of the process.
  ///   - now: The current time on the viewer's clock.
  mutating func take(_ message: MonitorMessage, from process: Int, at now: MonitorTime) {
    let index = process - 1
    switch message {
    case .hello(let hello):
      members[index].translation.clockLead = hello.clockLead(at: now, bootID: bootID)
      let merged = members[index].translation.merged(hello)
      members[index].isOutdated = members[index].report != nil
      members[index].report?.hello = merged
      members[index].report = members[index].report ?? ProcessReport(number: process, hello: merged)
      connect(index, .live)
    case .update(let update):
      var merged = members[index].translation.merged(update)
      // The clock of one process must not move the time of the other processes forward.
      merged.time = min(merged.time, now)
      take(merged, of: index)
    case .commandResult(let result):
      if let result = commands.take(result, from: process) { results.append(result) }
    case .silent(let duration):
      guard members[index].report?.isGone == false else { return }
      connect(index, duration > .zero ? .silent(for: duration) : .live)
    case .disconnected:
      connect(index, .reconnecting)
    case .ended(let reason):
      connect(index, .ended(at: now, reason: reason))
      ends.take(nil, from: process)
      members[index].countOnlyWhatIsOver()
    }
  }

  private mutating func connect(_ index: Int, _ connection: ProcessReport.Connection) {
    members[index].report?.connection = connection
    ends.interrupt(index + 1)
    hasNews = true
  }

  private mutating func take(_ update: Update, of index: Int) {
    hasNews = true
    if members[index].isOutdated {
      members[index].isOutdated = false
      drop(members[index].operations.subtracting(update.changed.lazy.map(\.id)), of: index)
    }
    for report in update.changed {
      changed[report.id] = report
      removed.remove(report.id)
      members[index].operations.insert(report.id)
    }
    drop(Set(update.removed), of: index)
    ends.take(update.groups, from: index + 1)
    logs.apply(update.logs)
    if let news = update.events {
      events.take(news, from: index + 1, limit: interest.eventLimit)
    }
    members[index].report?.counts = update.queues.counts
    members[index].report?.lostChanges = update.lostChanges
    members[index].report?.lastUpdate = update.time
    members[index].latest = update.withoutOperations
  }

  private mutating func drop(_ ids: Set<OperationReport.ID>, of index: Int) {
    for id in ids { changed[id] = nil }
    removed.formUnion(ids.intersection(members[index].operations))
    members[index].operations.subtract(ids)
  }

  // MARK: All processes

  private func hello(of reports: [ProcessReport], at now: MonitorTime) -> Hello {
    var hello = Hello(
      processName: "\(reports.count) processes", processID: 0,
      isReadOnly: reports.allSatisfy(\.hello.isReadOnly), anchor: now,
      // The viewer's own clock is used, because the clock of one process must not affect the other
      // processes.
      anchorSecondsSince1970: secondsSince1970AtZero + Double(now.nanoseconds) / 1e9,
      processStarted: reports.lazy.map(\.hello.processStarted).min() ?? now)
    hello.bootID = bootID
    hello.totalCount = reports.reduce(0) { $0 + $1.hello.totalCount }
    hello.canRetry = reports.contains(where: \.hello.canRetry)
    hello.sendsQueueDetails = reports.contains(where: \.hello.sendsQueueDetails)
    return hello
  }

  private mutating func takeUpdate(
    of reports: [ProcessReport], at now: MonitorTime
  ) -> Update {
    let all = members.map(\.latest)
    var update = Update(
      time: reports.lazy.compactMap(\.lastUpdate).max() ?? now,
      queues: all.flatMap(\.queues), changed: changed.values.sorted { $0.id < $1.id },
      removed: removed.sorted(), matchCount: matchCount,
      keptCount: all.reduce(0) { $0 + $1.keptCount }, dependents: dependents,
      lostChanges: all.reduce(0) { $0 + $1.lostChanges })
    (changed, removed, hasNews) = ([:], [], false)
    update.keptFinishedCount = all.reduce(0) { $0 + $1.keptFinishedCount }
    update.unstartedCompletionBlockCount = all.reduce(0) { $0 + $1.unstartedCompletionBlockCount }
    update.processes = reports
    if interest.rootLimit > 0 {
      let counts = all.compactMap(\.rootCount)
      update.rootCount = counts.count == all.count ? counts.reduce(0, +) : nil
    }
    if interest.eventLimit > 0 {
      let reported = reports.lazy.filter { $0.connection == .live && $0.lastUpdate != nil }
      let heard = Set(reported.map(\.number))
      update.events = events.take(heard: heard, limit: interest.eventLimit)
    }
    update.runs = interest.timeline.map { timeline in
      runs(since: update.time - timeline.window, limit: timeline.limit)
    }
    update.warnings = warnings
    // The percentiles of several processes together cannot be computed from the percentiles of each
    // process.
    let times = all.map(\.times).filter { $0 != TimeStatistics() }
    if times.count == 1 { update.times = times[0] }
    update.kindTimes = kindTimes
    update.behind = all.lazy.map(\.behind).max() ?? .zero
    // A late update is reported once. Its process may send no further update.
    for index in members.indices { members[index].latest.behind = .zero }
    update.detail = all.lazy.compactMap(\.detail).first { $0.id == interest.detail }
    update.matches = search.matches(in: searchAnswers)
    update.logs = logs.takeAll()
    update.runOrders = all.flatMap(\.runOrders)
    update.groups = interest.groups.flatMap(groups)
    ends.beginUpdate()
    return update
  }

  /// Returns the groups of the processes that have counted their operations; `nil` if no process has counted them.
  private func groups(_ request: Interest.GroupsRequest) -> OperationGroups? {
    let parts = listedMembers.compactMap(\.latest.groups)
    var groups = OperationGroups(merging: parts, for: request, ends: ends)
    groups?.countingProcessCount = listedMembers.count { member in
      let canCount =
        member.report?.connection == .live && member.report?.hello.sendsQueueDetails == true
      return canCount && member.latest.groups?.by != request.by
    }
    return groups
  }

  /// The answers of the processes to the viewer's search, in the order of the process numbers.
  private var searchAnswers: [MergedSearch.Answer] {
    if interest.search == nil { return [] }
    return members.map { member in
      if member.report?.ended != nil { return .ended }
      if member.report?.connection == .reconnecting { return .unreachable }
      let wanted = member.translation.own(interest).search
      if let matches = member.latest.matches, matches.search == wanted { return .found(matches) }
      return member.report?.connection == .live ? .missing : .unreachable
    }
  }

  private var matchCount: Int { listedMembers.reduce(0) { $0 + $1.latest.matchCount } }

  /// The processes whose operations the list may contain.
  private var listedMembers: [Member] {
    // After a process has ended, its unfinished operations never change. A list that omits finished
    // operations also omits all operations of ended processes.
    members.filter { !interest.hidesOver || $0.report?.ended == nil }
  }

  /// The dependents that the viewer requests. The list is complete when each process has sent the
  /// dependents of its own operations.
  private var dependents: Dependents? {
    guard !interest.subjects.isEmpty else { return nil }
    var all = Dependents(subjects: [])
    for member in members {
      let own = interest.subjects.filter { $0.processNumber == member.translation.number }
      if member.report?.ended != nil {
        // After the process has ended, its operations have no waiting dependents.
        all.subjects.formUnion(own)
      } else if let dependents = member.latest.dependents, dependents.subjects == own {
        all.subjects.formUnion(own)
        all.ids += dependents.ids
        all.isCut = all.isCut || dependents.isCut
      }
    }
    return all
  }

  /// Returns the runs of all processes since `start`. If their number exceeds the limit, current
  /// runs are preferred, and then the newest runs.
  private func runs(since start: MonitorTime, limit: Int) -> RecentRuns {
    let recent = members.compactMap { $0.runs(since: start) }
    let runs = recent.flatMap(\.runs).sorted {
      ($0.finished == nil ? 0 : 1, $1.started) < ($1.finished == nil ? 0 : 1, $0.started)
    }
    return RecentRuns(
      runs: runs.prefix(limit).sorted { ($0.started, $0.id) < ($1.started, $1.id) },
      count: recent.reduce(0) { $0 + $1.count })
  }

  /// The warnings of processes that have not ended, the most important first.
  private var warnings: [MonitorWarning] {
    let ranks = Dictionary(
      uniqueKeysWithValues: zip(MonitorWarning.Kind.allCases, MonitorWarning.Kind.allCases.indices))
    // Sorting is stable: warnings of the same kind keep the order of the processes.
    let living = members.filter { $0.report?.ended == nil }
    return living.flatMap(\.latest.warnings).sorted {
      (ranks[$0.kind] ?? 0) < (ranks[$1.kind] ?? 0)
    }
  }

  /// The times of each kind of operations. A kind does not include a process. If
  /// several processes have operations of the same kind, the kind is only included if one of them
  /// is the process of the operation whose details the viewer requests. The times of that process
  /// are then used.
  private var kindTimes: [String: TimeStatistics] {
    var times: [String: TimeStatistics] = [:]
    var shared: Set<String> = []
    for member in members {
      for (kind, own) in member.latest.kindTimes where times.updateValue(own, forKey: kind) != nil {
        shared.insert(kind)
      }
    }
    for kind in shared { times[kind] = nil }
    let shown = members.first { $0.translation.number == interest.detail?.processNumber }
    return times.merging(shown?.latest.kindTimes ?? [:]) { $1 }
  }
}
