// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The list of one session: the operations that match the session's filter, in the session's order.
///
/// Each change of an operation is applied at once. When the list is created, or when its order or
/// filter changes, the existing operations are added step by step, so that the collector can do
/// other work in between. Only the collector's thread uses the list.
final class SessionList {
  /// The interval at which a filter that depends on the ages of operations is evaluated again. If
  /// the evaluation takes long, the interval is longer.
  private static let refreshInterval = Duration.seconds(1)
  /// The minimum ratio of the interval between two evaluations of the filter to the duration of an
  /// evaluation.
  private static let refreshShare = 5

  private(set) var interest: Interest
  /// The sequence number of the collector's last reading of the queues that the session's updates
  /// include.
  private(set) var reportedVersion: UInt64 = 0
  /// The operations that the session has sent to the viewer.
  private var reported: Set<OperationReport.ID> = []

  private var order = FilledOrder()
  /// The rows of the earlier list, which are sent until the rebuilt list is complete; `nil` if the
  /// list is not being rebuilt.
  private var complete: (keys: [SortKey], count: Int)?
  /// The operations without dependents, if the viewer requests them.
  private var roots = FilledOrder()
  /// The moment for which the filter computes the ages of operations.
  private var now: MonitorTime
  /// The matches of the viewer's search; `nil` if the viewer does not search, or before the matches
  /// are found.
  private var search: ListSearch?
  /// The last answer to the viewer's search. It is sent again while the list is rebuilt.
  private var lastMatches: SearchMatches?
  private var events = EventBuffer()
  private var detailWatch = DetailWatch()
  private var logs: SessionLogs
  /// The time of the session's last update; `nil` before the first update.
  private var lastReportTime: MonitorTime?
  /// Whether the next update is sent at once, without waiting for the interval.
  private var isUrgent = true
  /// The time at which the session sends changes that came too soon after its last update; `nil` if
  /// no changes wait.
  private(set) var nextReportTime: MonitorTime?
  /// The time at which the session sends log lines that came too soon after its last update; `nil` if
  /// no lines wait, or if changes wait too.
  private(set) var nextLogTime: MonitorTime?
  /// The number of state changes that the session did not send because there were too many at once.
  private var lostChanges: UInt64 = 0
  /// The number of state changes in `lostChanges` that happened while the viewer requested events.
  private var lostEvents: UInt64 = 0
  /// The number of unrecorded state changes in the table that the session has already counted.
  private var knownLostSteps: UInt64

  init(_ interest: Interest, in table: CollectorTable, at now: MonitorTime) {
    self.interest = interest
    self.now = now
    logs = SessionLogs(interest.logs)
    knownLostSteps = table.lostSteps
    refill(from: table)
    refillRoots(from: table)
    beginEvents(limit: interest.eventLimit, from: table)
  }

  /// Whether some operations have not been added to the list yet.
  var isFilling: Bool { order.isFilling || roots.isFilling }

  /// The time at which the filter must be evaluated again because of the ages of operations; `nil`
  /// if the filter does not depend on the time.
  var nextRefresh: MonitorTime? {
    guard interest.filter?.dependsOnTime == true, interest.rowLimit != nil else { return nil }
    return now + max(Self.refreshInterval, order.fillingTime * Self.refreshShare)
  }

  /// The time at which the detail of an operation must be computed again even if nothing changes;
  /// `nil` if the detail is up to date, or if an update is already due.
  var nextDetail: MonitorTime? { nextReportTime == nil ? detailWatch.nextAnswer : nil }

  /// Postpones the computation of an operation's detail, because the viewer has not received its
  /// last update.
  func postponeDetail() { detailWatch.postpone() }

  func change(to new: Interest, in table: CollectorTable, at now: MonitorTime) {
    let mustRefill =
      interest.order.column != new.order.column || interest.filter != new.filter
      || interest.names != new.names || interest.hidesOver != new.hidesOver
    let mustBeginEvents =
      (interest.eventLimit > 0) != (new.eventLimit > 0) || interest.filter != new.filter
    let mustRefillRoots = (interest.rootLimit > 0) != (new.rootLimit > 0)
    interest = new
    isUrgent = true
    logs.change(to: new.logs)
    if search?.text != new.search?.text { search = nil }
    if mustRefillRoots { refillRoots(from: table) }
    if mustBeginEvents {
      beginEvents(limit: new.eventLimit, from: table)
    } else {
      events.setLimit(new.eventLimit)
    }
    guard mustRefill else { return }
    self.now = now
    (complete, lastMatches) = (nil, nil)
    refill(from: table)
  }

  /// Evaluates the filter again if it depends on the ages of operations and the interval has
  /// passed.
  func refreshIfDue(from table: CollectorTable, at now: MonitorTime) {
    guard !order.isFilling, let due = nextRefresh, due <= now else { return }
    self.now = now
    remake(from: table)
  }

  /// Rebuilds the list. The earlier rows are sent until the new list is complete.
  private func remake(from table: CollectorTable) {
    // If the current list is incomplete, the rows of the earlier complete list are still sent.
    if !order.isFilling { complete = (rows, order.count) }
    refill(from: table)
  }

  /// Begins to fill the list. The rows that the viewer has are added first. Otherwise the first update could remove
  /// some of them, and the next one add them again.
  private func refill(from table: CollectorTable) {
    search = nil
    order.begin(with: Array(table.entries.keys))
    for report in reported.lazy.compactMap({ table.report($0) }) {
      order.replace(nil, by: key(of: report, in: table))
    }
  }

  private func refillRoots(from table: CollectorTable) {
    roots.begin(with: interest.rootLimit > 0 ? Array(table.entries.keys) : [])
  }

  /// Adds existing operations to this list until all are added or a time is reached.
  func fill(from table: CollectorTable, until deadline: ContinuousClock.Instant) {
    order.fill(until: deadline) { id in
      table.report(id).flatMap { key(of: $0, in: table) }
    }
    if !order.isFilling { complete = nil }
    roots.fill(until: deadline) { table.report($0).flatMap(rootKey) }
    if !isFilling { isUrgent = true }
  }

  // MARK: Changes

  func insert(_ report: OperationReport, in table: CollectorTable) {
    let key = key(of: report, in: table)
    order.replace(nil, by: key)
    search?.replace(nil, by: key, report)
    roots.replace(nil, by: rootKey(of: report))
  }

  func remove(_ report: OperationReport, in table: CollectorTable) {
    let key = key(of: report, in: table)
    order.replace(key, by: nil)
    search?.replace(key, by: nil, report)
    roots.replace(rootKey(of: report), by: nil)
  }

  func replace(_ old: OperationReport, by new: OperationReport, in table: CollectorTable) {
    let (oldKey, newKey) = (key(of: old, in: table), key(of: new, in: table))
    order.replace(oldKey, by: newKey)
    search?.replace(oldKey, by: newKey, new)
    roots.replace(rootKey(of: old), by: rootKey(of: new))
  }

  /// Rebuilds the list after the name of a queue has changed, if the list is sorted or filtered by
  /// the names of queues.
  func queueNameDidChange(in table: CollectorTable) {
    let isFiltered = interest.filter?.dependsOnQueueNames == true
    if interest.order.column == .queue || isFiltered { remake(from: table) }
  }

  /// Returns the sort key of an operation; `nil` if the operation does not belong in the list.
  private func key(of report: OperationReport, in table: CollectorTable) -> SortKey? {
    guard interest.rowLimit != nil else { return nil }
    let queueName = table.queues[report.queue]?.name ?? ""
    return interest.sortKey(of: report, queueName: queueName, at: now)
  }

  /// Returns the sort key of an unfinished operation without dependents; `nil` if the operation has
  /// finished or has dependents, or if the viewer does not request such operations.
  private func rootKey(of report: OperationReport) -> SortKey? {
    interest.rootLimit > 0 && report.isRoot ? SortKey(report) : nil
  }

  // MARK: History

  /// The maximum number of dependencies and of dependents whose times are compared with the times
  /// of an operation's events.
  private static let neighbourLimit = 1_000

  /// Adds the events for the state changes of an operation, if the viewer requests events.
  func noteSteps(
    from old: OperationReport?, to new: OperationReport, in table: CollectorTable
  ) {
    guard events.limit > 0 else { return }
    let queueName = table.queues[new.queue]?.name ?? ""
    var changes = OperationSteps(from: old, to: new, at: table.readingTime)
    let dependents = table.entries[new.id]?.dependents ?? []
    changes.order(
      after: new.dependencies.lazy.prefix(Self.neighbourLimit).compactMap { table.report($0) },
      before: dependents.lazy.prefix(Self.neighbourLimit).compactMap { table.report($0.id) })
    for step in changes.steps {
      if let filter = interest.filter {
        var report = new
        report.state = step.new
        guard filter.matches(report, queueName: queueName, at: step.time) else { continue }
      }
      events.add(OperationEvent(step, of: new))
    }
  }

  /// Begins the history with the recorded events of the running operations and of the last finished
  /// operations.
  private func beginEvents(limit: Int, from table: CollectorTable) {
    events = EventBuffer()
    events.setLimit(limit)
    for id in table.running.prefix(limit) + table.lastFinished(limit) {
      if let report = table.report(id) { noteSteps(from: nil, to: report, in: table) }
    }
  }

  // MARK: Search

  /// Returns the matches of the viewer's search; `nil` if the viewer does not search. While the list
  /// or the texts to search are not complete, returns the last answer to the same search, or `nil`. If
  /// the list has only operations with a warning, `warned` contains its keys.
  private func searchMatches(in table: CollectorTable, warned: [SortKey]?) -> SearchMatches? {
    if let matches = completeMatches(in: table, warned: warned) { lastMatches = matches }
    return lastMatches?.search == interest.search ? lastMatches : nil
  }

  private func completeMatches(in table: CollectorTable, warned: [SortKey]?) -> SearchMatches? {
    guard let wanted = interest.search, interest.rowLimit != nil else { return nil }
    if wanted.text.isEmpty { return SearchMatches(none: wanted) }
    guard !order.isFilling else { return nil }
    let start = wanted.start.flatMap { table.report($0) }.flatMap { key(of: $0, in: table) }
    let isReversed = interest.order.isReversed
    if let warned {
      let keys = warned.filter { table.report($0.id)?.isMatch(of: wanted.text) == true }
      let position =
        start.map { start in keys.count { isReversed ? $0 > start : $0 < start } } ?? 0
      return SearchMatches(wanted, count: keys.count, position: position) { keys[$0].map(\.id) }
    }
    if search == nil, let texts = table.searchTexts, !texts.isFilling {
      search = ListSearch(for: wanted.text, in: order.order, texts) { table.report($0) }
    }
    return search?.answer(wanted, start: start, isReversed: isReversed)
  }

  // MARK: Updates

  private var rows: [SortKey] {
    guard let limit = interest.rowLimit else { return [] }
    return order.prefix(limit, isReversed: interest.order.isReversed)
  }

  /// Returns the first rows of the list up to the viewer's limit, and the number of all rows.
  private func listed(
    in table: CollectorTable, warnings: [MonitorWarning]
  ) -> (keys: [SortKey], count: Int) {
    guard let limit = interest.rowLimit else { return ([], table.entries.count) }
    guard interest.showsWarnedOnly else { return complete ?? (rows, order.count) }
    let keys = warnedKeys(in: table, warnings)
    return (Array(keys.prefix(limit)), keys.count)
  }

  /// Returns the keys of the operations with a warning, in the order of the list. The keys are
  /// collected again for each update. This is quick, because warnings name at most a few hundred
  /// operations.
  private func warnedKeys(in table: CollectorTable, _ warnings: [MonitorWarning]) -> [SortKey] {
    let keys = Set(warnings.lazy.flatMap(\.markedOperations)).compactMap { id in
      table.report(id).flatMap { key(of: $0, in: table) }
    }
    return interest.order.isReversed ? keys.sorted(by: >) : keys.sorted()
  }

  /// The operations whose log lines the session sends; `nil` for none.
  var logSelection: OperationLogStore.Selection? { logs.selection }
  /// Whether there are log lines that the session has not sent.
  var hasNewLogs: Bool { logs.hasNews }

  /// Decides whether the interval allows an update now. If it does not, the update is due later.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - interval: The shortest time between two updates.
  ///   - hasOnlyLogs: Whether the update has no news but log lines.
  /// - Returns: Whether an update can be sent now.
  func mayReport(at now: MonitorTime, interval: Duration, hasOnlyLogs: Bool = false) -> Bool {
    // The interval between two updates is limited to about 31 years, because a longer interval
    // could exceed the range of times.
    let interval = min(interval, .seconds(1_000_000_000))
    // An update is allowed shortly before the end of the interval. Otherwise, if a reading of the
    // queues ends shortly before that time, the collector would have to wake up again only to send
    // the update.
    if let due = lastReportTime.map({ $0 + interval }), !isUrgent, now < due - interval / 8 {
      if hasOnlyLogs { nextLogTime = due } else { nextReportTime = due }
      return false
    }
    (nextReportTime, nextLogTime) = (nil, nil)
    return true
  }

  /// Returns an update with all changes since the session's last update.
  func takeUpdate(from table: CollectorTable) -> Update {
    let time = MonitorTime.now
    lastReportTime = time
    isUrgent = false
    let warnings = table.warnings(at: time, of: interest.warningKinds)
    let listed = listed(in: table, warnings: warnings)
    let detail = detailWatch.answer(about: interest.detail, at: MonitorTime.now) {
      table.detail(of: $0)
    }
    let matches = searchMatches(
      in: table, warned: interest.showsWarnedOnly ? warnedKeys(in: table, warnings) : nil)
    let singled = singledOut(in: table).union(detail?.namedOperations ?? [])
      .union(matches?.ids ?? [])
    let wanted = wantedOperations(listed.keys, singled, from: table, warnings: warnings)
    var changed: [OperationReport] = []
    for id in wanted {
      guard let entry = table.entries[id] else { continue }
      if entry.version > reportedVersion || !reported.contains(id) { changed.append(entry.report) }
    }
    let removed = reported.subtracting(wanted)
    reported = wanted
    reportedVersion = table.version
    var update = Update(
      time: time, queues: table.queues.values.sorted { $0.id < $1.id },
      changed: changed.sorted { $0.id < $1.id }, removed: removed.sorted(),
      matchCount: listed.count,
      keptCount: table.entries.count,
      dependents: interest.subjects.isEmpty ? nil : table.dependents(of: interest.subjects))
    update.keptFinishedCount = table.keptFinishedCount
    update.rootCount = interest.rootLimit > 0 && !roots.isFilling ? roots.count : nil
    update.events = takeEvents(from: table)
    update.lostChanges = lostChanges
    update.runs = interest.timeline.map { table.recentRuns($0, at: time) }
    update.warnings = warnings
    if lostEvents > 0, interest.warningKinds.contains(.historyLost) {
      update.warnings.append(MonitorWarning(kind: .historyLost, count: Int(lostEvents)))
    }
    update.times = table.times.statistics
    update.kindTimes = table.kindTimes(of: singled, at: time)
    update.detail = detail
    update.matches = matches
    update.logs = logs.take()
    return update
  }

  /// Returns the events since the last update, and counts the missing events.
  private func takeEvents(from table: CollectorTable) -> EventNews? {
    let lostSteps = table.lostSteps - knownLostSteps
    knownLostSteps = table.lostSteps
    var news = events.take()
    lostChanges += lostSteps + UInt64(news?.skippedCount ?? 0)
    if news?.isBeginning == false { news?.skippedCount += Int(lostSteps) }
    lostEvents += UInt64(news?.skippedCount ?? 0)
    return news
  }

  /// Returns the operations that the viewer requests in addition to the list: single operations and
  /// parts of the dependency graph.
  private func singledOut(in table: CollectorTable) -> Set<OperationReport.ID> {
    var singled = interest.operations
    for graph in interest.graphs { singled.formUnion(table.neighbourhood(graph)) }
    if interest.rootLimit > 0 {
      // At most half of the operations that are sent are roots of the graph, so that the
      // dependencies of the roots are also sent.
      let first = roots.prefix((interest.rootLimit + 1) / 2).map(\.id)
      singled.formUnion(table.neighbourhood(of: first, .waitsFor, limit: interest.rootLimit))
    }
    return singled
  }

  private func wantedOperations(
    _ listed: [SortKey], _ singled: Set<OperationReport.ID>, from table: CollectorTable,
    warnings: [MonitorWarning]
  ) -> Set<OperationReport.ID> {
    guard interest.rowLimit != nil else { return Set(table.entries.keys) }
    var wanted = Set(listed.lazy.map(\.id))
    wanted.formUnion(singled)
    for warning in warnings { wanted.formUnion(warning.operations + warning.awaited) }
    wanted = wanted.filter { table.entries[$0] != nil }
    OperationReport.addCauses(to: &wanted, for: interest) { id in
      table.entries[id].map { $0.report.cancellationCause?.operation }
    }
    return wanted
  }
}
