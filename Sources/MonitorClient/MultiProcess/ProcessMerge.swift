// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Several processes as one, without a socket: what each of them tells becomes one consistent stream of
/// messages, and what the viewer wants becomes something for each of them.
///
/// The processes have the numbers from 1 on. Each tells at its own pace; what it told last counts until
/// it tells something else, also where it is gone.
struct ProcessMerge {
  /// What one process is to tell.
  struct Wish: Equatable {
    let process: Int
    let interest: Interest
  }

  /// For so long those that tell something wait for those that have told nothing yet.
  static let patience = Duration.seconds(2)

  /// What is known of one process.
  private struct Member {
    var translation: ProcessTranslation
    /// `nil` before it has greeted.
    var report: ProcessReport?
    /// What it told last, but for what has changed.
    var latest = Update(time: MonitorTime(nanoseconds: 0))
    /// The operations that the viewer was told of.
    var operations: Set<OperationReport.ID> = []
    /// Whether all this is from before its last greeting: its next update tells everything anew.
    var isOutdated = false

    /// What ran there in the time from `start` on. Where nothing comes from it, what went on does so no
    /// longer.
    func runs(since start: MonitorTime) -> RecentRuns? {
      guard var recent = latest.runs, let end = report?.standstill else { return latest.runs }
      for index in recent.runs.indices where recent.runs[index].finished == nil {
        recent.runs[index].finished = max(end, recent.runs[index].started)
      }
      let count = recent.runs.count
      recent.runs.removeAll { ($0.finished ?? end) < start }
      // Those that it did not tell are older than those that it did.
      if recent.runs.count < count { recent.count = recent.runs.count }
      return recent
    }

    /// What had not finished does not go on any more, and is nobody's work.
    mutating func countOnlyWhatIsOver() {
      for index in latest.queues.indices {
        latest.queues[index].counts = latest.queues[index].counts.over
      }
      report?.counts = latest.queues.counts
    }
  }

  private let bootID: String
  private let secondsSince1970AtZero: Double
  private var members: [Member]
  private var interest: Interest
  private var commands: SplitCommands
  private var events = MergedEvents()
  // What the viewer was not told of yet.
  private var changed: [OperationReport.ID: OperationReport] = [:]
  private var removed: Set<OperationReport.ID> = []
  private var results: [CommandResult] = []
  private var hasNews = false
  /// Since when the viewer is greeted; `nil` where it is not.
  private var greeted: MonitorTime?
  private var isOver = false

  /// Creates a merge of processes that have told nothing.
  ///
  /// - Parameters:
  ///   - count: How many there are.
  ///   - interest: What each was asked to tell from the start.
  ///   - bootID: This machine's.
  ///   - secondsSince1970AtZero: The time of day when the viewer's clock was at zero.
  init(count: Int, interest: Interest, bootID: String, secondsSince1970AtZero: Double) {
    self.bootID = bootID
    self.secondsSince1970AtZero = secondsSince1970AtZero
    self.interest = interest
    members = (1...count).map { Member(translation: ProcessTranslation(number: $0)) }
    commands = SplitCommands(count: count)
  }

  // MARK: The viewer

  /// The viewer wants to be told this; returns the processes for which that is something else.
  mutating func watch(_ new: Interest) -> [Wish] {
    let old = interest
    interest = new
    // What depends on other operations may be known already.
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

  /// The viewer gives a command; returns whom to tell what.
  mutating func give(
    _ command: MonitorCommand, at now: MonitorTime
  ) -> [SplitCommands.Order] {
    let (orders, result) = commands.give(command, at: now)
    if let result { results.append(result) }
    return orders
  }

  /// What the viewer is to be told now. Nothing before all processes have greeted.
  mutating func takeMessages(at now: MonitorTime) -> [MonitorMessage] {
    let reports = members.compactMap(\.report)
    guard !isOver, reports.count == members.count else { return [] }
    var messages: [MonitorMessage] = []
    if greeted == nil {
      greeted = now
      messages.append(.hello(hello(of: reports, at: now)))
    }
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

  /// When there is something for the viewer though no process tells anything; `nil` where there is
  /// nothing.
  func deadline(after now: MonitorTime) -> MonitorTime? {
    [hasNews ? begin : nil, commands.deadline].compactMap { $0 }.filter { $0 > now }.min()
  }

  /// From when on the viewer is told, though some have told nothing; `nil` where all have that are heard.
  ///
  /// The totals of some would grow by those of the others, as if all that had just finished. But one that
  /// greets and never tells is not to blank the others.
  private var begin: MonitorTime? {
    let isAwaited = members.contains {
      $0.report?.connection == .live && $0.report?.lastUpdate == nil
    }
    return isAwaited ? greeted.map { $0 + Self.patience } : nil
  }

  // MARK: The processes

  /// A process tells something.
  ///
  /// - Parameters:
  ///   - message: What it tells.
  ///   - process: Its number.
  ///   - now: The present time on the viewer's clock.
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
      // What it says of its clock moves nobody else's.
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
      members[index].countOnlyWhatIsOver()
    }
  }

  private mutating func connect(_ index: Int, _ connection: ProcessReport.Connection) {
    members[index].report?.connection = connection
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

  // MARK: All of them

  private func hello(of reports: [ProcessReport], at now: MonitorTime) -> Hello {
    var hello = Hello(
      processName: "\(reports.count) processes", processID: 0,
      isReadOnly: reports.allSatisfy(\.hello.isReadOnly), anchor: now,
      // The viewer's own: what one process says of it is not to be everybody's.
      anchorSecondsSince1970: secondsSince1970AtZero + Double(now.nanoseconds) / 1e9,
      processStarted: reports.lazy.map(\.hello.processStarted).min() ?? now)
    hello.bootID = bootID
    hello.totalCount = reports.reduce(0) { $0 + $1.hello.totalCount }
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
    update.processes = reports
    if interest.rootLimit > 0 {
      let counts = all.compactMap(\.rootCount)
      update.rootCount = counts.count == all.count ? counts.reduce(0, +) : nil
    }
    if interest.eventLimit > 0 {
      let told = reports.lazy.filter { $0.connection == .live && $0.lastUpdate != nil }
      let heard = Set(told.map(\.number))
      update.events = events.take(heard: heard, limit: interest.eventLimit)
    }
    update.runs = interest.timeline.map { timeline in
      runs(since: update.time - timeline.window, limit: timeline.limit)
    }
    update.warnings = warnings
    // How the times of several are distributed does not follow from how those of each are.
    let times = all.map(\.times).filter { $0 != TimeStatistics() }
    if times.count == 1 { update.times = times[0] }
    update.classTimes = classTimes
    update.behind = all.lazy.map(\.behind).max() ?? .zero
    update.detail = all.lazy.compactMap(\.detail).first { $0.id == interest.detail }
    return update
  }

  private var matchCount: Int {
    // Nothing more becomes of what is left of a process: it is hidden with what is over.
    let listed = members.filter { !interest.hidesOver || $0.report?.ended == nil }
    return listed.reduce(0) { $0 + $1.latest.matchCount }
  }

  /// Complete as soon as each process has said what depends on those of the subjects that are its own.
  private var dependents: Dependents? {
    guard !interest.subjects.isEmpty else { return nil }
    var all = Dependents(subjects: [])
    for member in members {
      let own = interest.subjects.filter { $0.processNumber == member.translation.number }
      if member.report?.ended != nil {
        // Nothing waits for anything there any more.
        all.subjects.formUnion(own)
      } else if let dependents = member.latest.dependents, dependents.subjects == own {
        all.subjects.formUnion(own)
        all.ids += dependents.ids
        all.isCut = all.isCut || dependents.isCut
      }
    }
    return all
  }

  /// Those that go on, and then the newest.
  private func runs(since start: MonitorTime, limit: Int) -> RecentRuns {
    let recent = members.compactMap { $0.runs(since: start) }
    let runs = recent.flatMap(\.runs).sorted {
      ($0.finished == nil ? 0 : 1, $1.started) < ($1.finished == nil ? 0 : 1, $0.started)
    }
    return RecentRuns(
      runs: runs.prefix(limit).sorted { ($0.started, $0.id) < ($1.started, $1.id) },
      count: recent.reduce(0) { $0 + $1.count })
  }

  /// What still can be helped, what matters most first.
  private var warnings: [MonitorWarning] {
    let ranks = Dictionary(
      uniqueKeysWithValues: zip(MonitorWarning.Kind.allCases, MonitorWarning.Kind.allCases.indices))
    // Sorting is stable: of one kind those of the first process come first.
    let living = members.filter { $0.report?.ended == nil }
    return living.flatMap(\.latest.warnings).sorted {
      (ranks[$0.kind] ?? 0) < (ranks[$1.kind] ?? 0)
    }
  }

  /// Those of the process of the one operation that is shown alone, and of the others those of classes
  /// that no second one has: a class's name does not say of which process it is.
  private var classTimes: [String: TimeStatistics] {
    var times: [String: TimeStatistics] = [:]
    var shared: Set<String> = []
    for member in members {
      for (name, own) in member.latest.classTimes where times.updateValue(own, forKey: name) != nil
      {
        shared.insert(name)
      }
    }
    for name in shared { times[name] = nil }
    let shown = members.first { $0.translation.number == interest.detail?.processNumber }
    return times.merging(shown?.latest.classTimes ?? [:]) { $1 }
  }
}
