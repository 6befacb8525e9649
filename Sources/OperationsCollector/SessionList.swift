// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The list of one session: the operations that match the session's filter, in the session's order.
///
/// Each change of an operation is applied at once. When the list is created, or when its order or filter changes, the
/// existing operations are added step by step, so that the collector can do other work in between. Only the collector's
/// thread uses the list.
final class SessionList {
  /// The interval at which a filter that depends on the ages of operations is evaluated again. If the evaluation takes
  /// long, the interval is longer.
  private static let refreshInterval = Duration.seconds(1)
  /// The minimum ratio of the interval between two evaluations of the filter to the duration of an evaluation.
  private static let refreshShare = 5

  private(set) var interest: Interest
  /// The sequence number of the collector's last reading of the queues that the session's updates include.
  private(set) var reportedVersion: UInt64 = 0
  /// The operations that the session has sent to the viewer.
  private var reported: Set<OperationReport.ID> = []

  private var order = FilledOrder()
  /// The rows of the earlier list, which are sent until the rebuilt list is complete; `nil` if it is not being rebuilt.
  private var complete: (keys: [SortKey], count: Int, groups: ListCounts?)?
  /// The positions of operations in the run orders of their queues with which the list is sorted; empty if it is not
  /// sorted by position.
  private var positions: [OperationReport.ID: Int] = [:]
  /// The operations without dependents, if the viewer requests them.
  private var roots = FilledOrder()
  /// The moment for which the filter computes the ages of operations.
  private var now: MonitorTime
  /// The matches of the viewer's search; `nil` if the viewer does not search, or before the matches are found.
  private var search: ListSearch?
  /// The last answer to the viewer's search. It is sent again while the list is rebuilt.
  private var lastMatches: SearchMatches?
  private var events: SessionEvents
  private var detailWatch = DetailWatch()
  private var logs: SessionLogs
  /// The time at which statistics that were not up to date in the last update can be computed again; `nil` if all
  /// were up to date.
  private var nextStatistics: MonitorTime?
  /// The time of the session's last update; `nil` before the first update.
  private var lastReportTime: MonitorTime?
  /// Whether the next update is sent at once, without waiting for the interval.
  private var isUrgent = true
  /// The time at which the session sends changes that came too soon after its last update; `nil` if no changes wait.
  private(set) var nextReportTime: MonitorTime?
  /// The time at which the session sends log lines that came too soon after its last update; `nil` if no lines wait, or
  /// if changes wait too.
  private(set) var nextLogTime: MonitorTime?

  init(_ interest: Interest, in table: CollectorTable, at now: MonitorTime) {
    self.interest = interest
    self.now = now
    logs = SessionLogs(interest.logs)
    events = SessionEvents(interest, from: table)
    positions = interest.order.column == .position ? table.positions : [:]
    refill(from: table)
    refillRoots(from: table)
  }

  /// Whether some operations have not been added to the list yet, or have not been counted in their groups yet.
  var isFilling: Bool { order.isFilling || order.isCounting || roots.isFilling }

  /// The time at which the groups must be counted again; see ``FilledOrder/nextRecount``.
  var nextRecount: MonitorTime? { order.nextRecount }

  /// The time at which the filter must be evaluated again because of the ages of operations; `nil` if it does not depend
  /// on the time.
  var nextRefresh: MonitorTime? {
    guard interest.filter?.dependsOnTime == true, interest.needsList else { return nil }
    return now + max(Self.refreshInterval, order.fillingTime * Self.refreshShare)
  }

  /// The time at which the detail of an operation or statistics must be computed again even if nothing changes; `nil`
  /// if they are up to date, or if an update is already due.
  var nextComputation: MonitorTime? {
    guard nextReportTime == nil else { return nil }
    return [detailWatch.nextAnswer, nextStatistics].compactMap { $0 }.min()
  }

  /// Postpones the computation of an operation's detail and of statistics, because the viewer has not received its
  /// last update.
  func postpone() {
    detailWatch.postpone()
    nextStatistics = nil
  }

  func change(to new: Interest, in table: CollectorTable, at now: MonitorTime) {
    let mustRefill =
      interest.order.column != new.order.column || interest.filter != new.filter
      || interest.names != new.names || interest.hidesOver != new.hidesOver
      || interest.needsList != new.needsList
    let mustRefillRoots = (interest.rootLimit > 0) != (new.rootLimit > 0)
    let countsGroups = interest.groups != nil
    events.change(from: interest, to: new, in: table)
    interest = new
    isUrgent = true
    logs.change(to: new.logs)
    if search?.text != new.search?.text { search = nil }
    if mustRefillRoots { refillRoots(from: table) }
    if mustRefill {
      self.now = now
      positions = new.order.column == .position ? table.positions : [:]
      (complete, lastMatches) = (nil, nil)
      refill(from: table)
    } else if countsGroups != (new.groups != nil) {
      if countsGroups { order.forgetGroups() } else { order.beginCounting() }
    }
  }

  /// Evaluates the filter again if it depends on the ages of operations and the interval has passed. Counts the groups
  /// again if that is due.
  func refreshIfDue(from table: CollectorTable, at now: MonitorTime) {
    order.recountIfDue(at: now)
    guard !order.isFilling, let due = nextRefresh, due <= now else { return }
    self.now = now
    remake(from: table)
  }

  /// Rebuilds the list. The earlier rows are sent until the new list is complete.
  private func remake(from table: CollectorTable) {
    // If the current list is incomplete, the rows of the earlier complete list are still sent.
    if !order.isFilling { complete = (rows, order.count, order.groups) }
    refill(from: table)
  }

  /// Begins to fill the list. The rows that the viewer has are added first. Otherwise the first update could remove
  /// some of them, and the next one add them again.
  private func refill(from table: CollectorTable) {
    search = nil
    order.begin(with: Array(table.entries.keys), countsGroups: interest.groups != nil)
    for report in reported.lazy.compactMap({ table.report($0) }) {
      order.replace(nil, report, by: key(of: report, in: table), report)
    }
  }

  private func refillRoots(from table: CollectorTable) {
    roots.begin(with: interest.rootLimit > 0 ? Array(table.entries.keys) : [])
  }

  /// Adds existing operations to this list until all are added or a time is reached.
  ///
  /// - Returns: Whether the rows or the groups have become complete. The rows do not wait for the groups.
  @discardableResult
  func fill(from table: CollectorTable, until deadline: ContinuousClock.Instant) -> Bool {
    let lackedRows = order.isFilling
    order.fill(
      until: deadline,
      counting: { id in
        table.report(id).flatMap { report in key(of: report, in: table).map { ($0, report) } }
      })
    if !order.isFilling {
      complete = nil
      order.count(until: deadline) { table.report($0) }
    }
    roots.fill(until: deadline) { table.report($0).flatMap(rootKey) }
    let isNews = !isFilling || lackedRows && !order.isFilling
    if isNews { isUrgent = true }
    return isNews
  }

  // MARK: Changes

  func insert(_ report: OperationReport, in table: CollectorTable) {
    let key = key(of: report, in: table)
    order.replace(nil, report, by: key, report)
    search?.replace(nil, by: key, report)
    roots.replace(nil, by: rootKey(of: report))
  }

  func remove(_ report: OperationReport, in table: CollectorTable) {
    let key = key(of: report, in: table)
    order.replace(key, report, by: nil, report)
    search?.replace(key, by: nil, report)
    roots.replace(rootKey(of: report), by: nil)
  }

  func replace(_ old: OperationReport, by new: OperationReport, in table: CollectorTable) {
    let (oldKey, newKey) = (key(of: old, in: table), key(of: new, in: table))
    order.replace(oldKey, old, by: newKey, new)
    search?.replace(oldKey, by: newKey, new)
    roots.replace(rootKey(of: old), by: rootKey(of: new))
  }

  /// Rebuilds the list after the name of a queue has changed, if the list is sorted or filtered by
  /// the names of queues.
  func queueNameDidChange(in table: CollectorTable) {
    let isFiltered = interest.filter?.dependsOnQueueNames == true
    let isSorted = interest.order.column == .queue || interest.order.column == .position
    if isSorted || isFiltered { remake(from: table) }
  }

  /// Sorts the list again, which is sorted by position, after the collector has read the run orders. Only the operations
  /// whose positions have changed are moved.
  func positionsDidChange(to new: [OperationReport.ID: Int], in table: CollectorTable) {
    let old = positions
    for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
      guard let report = table.report(id) else { continue }
      positions[id] = old[id]
      let oldKey = key(of: report, in: table)
      positions[id] = new[id]
      let newKey = key(of: report, in: table)
      order.replace(oldKey, report, by: newKey, report)
      search?.replace(oldKey, by: newKey, report)
    }
    positions = new
  }

  /// Returns the sort key of an operation; `nil` if the operation does not belong in the list.
  private func key(of report: OperationReport, in table: CollectorTable) -> SortKey? {
    guard interest.needsList else { return nil }
    let queueName = table.queues[report.queue]?.name ?? ""
    return interest.sortKey(
      of: report, queueName: queueName, at: now, position: positions[report.id])
  }

  /// Returns the sort key of an unfinished operation without dependents; `nil` if the operation has
  /// finished or has dependents, or if the viewer does not request such operations.
  private func rootKey(of report: OperationReport) -> SortKey? {
    interest.rootLimit > 0 && report.isRoot ? SortKey(report) : nil
  }

  // MARK: History

  /// Adds the events for the state changes of an operation, if the viewer requests events.
  func noteSteps(
    from old: OperationReport?, to new: OperationReport, in table: CollectorTable
  ) {
    events.noteSteps(from: old, to: new, interest.filter, in: table)
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
    guard interest.showsWarnedOnly else {
      return complete.map { ($0.keys, $0.count) } ?? (rows, order.count)
    }
    let keys = warnedKeys(in: table, warnings)
    return (Array(keys.prefix(limit)), keys.count)
  }

  /// Returns the keys of the operations with a warning, in the order of the list. The keys are collected again for each
  /// update. This is quick, because warnings name at most a few hundred operations.
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
    // An update is allowed shortly before the end of the interval. Otherwise, if a reading of the queues ends shortly
    // before that time, the collector would have to wake up again only to send the update.
    if let due = lastReportTime.map({ $0 + interval }), !isUrgent, now < due - interval / 8 {
      if hasOnlyLogs { nextLogTime = due } else { nextReportTime = due }
      return false
    }
    (nextReportTime, nextLogTime) = (nil, nil)
    return true
  }

  /// Returns an update with all changes since the session's last update. No update follows if `isLast` is `true`.
  func takeUpdate(from table: CollectorTable, isLast: Bool = false) -> Update {
    let time = MonitorTime.now
    lastReportTime = time
    isUrgent = false
    table.kindTimes.beginUpdate(isLast: isLast)
    defer { nextStatistics = table.kindTimes.nextChange }
    let warnings = table.warnings(at: time, of: interest.warningKinds)
    let listed = listed(in: table, warnings: warnings)
    let detail = detailWatch.answer(about: interest.detail, at: MonitorTime.now) {
      table.detail(of: $0)
    }
    let warned = interest.showsWarnedOnly ? warnedKeys(in: table, warnings) : nil
    let matches = searchMatches(in: table, warned: warned)
    let runOrders = interest.runOrder.map { table.runOrders($0) } ?? []
    let singled = singledOut(in: table).union(detail?.namedOperations ?? [])
      .union(matches?.ids ?? [])
    let wanted = table.wantedOperations(
      interest, listed.keys, singled.union(interest.operations(in: runOrders)), warnings: warnings)
    var changed: [OperationReport] = []
    for id in wanted {
      guard let entry = table.entries[id] else { continue }
      if entry.version > reportedVersion || !reported.contains(id) { changed.append(entry.report) }
    }
    let removed = reported.subtracting(wanted)
    reported = wanted
    reportedVersion = table.version
    var update = Update(
      time: time, queues: table.queueReports(withTimes: interest.queueTimes, at: time),
      changed: changed.sorted { $0.id < $1.id }, removed: removed.sorted(),
      matchCount: listed.count,
      keptCount: table.entries.count,
      dependents: interest.subjects.isEmpty ? nil : table.dependents(of: interest.subjects))
    update.keptFinishedCount = table.keptFinishedCount
    update.rootCount = interest.rootLimit > 0 && !roots.isFilling ? roots.count : nil
    update.events = events.take(from: table)
    update.lostChanges = events.lostChanges
    update.runs = interest.timeline.map { table.recentRuns($0, at: time) }
    update.warnings = warnings
    if events.lostEvents > 0, interest.warningKinds.contains(.historyLost) {
      update.warnings.append(MonitorWarning(kind: .historyLost, count: Int(events.lostEvents)))
    }
    update.times = table.times.statistics
    update.kindTimes = table.kindTimes(of: singled, at: time)
    update.detail = detail
    update.matches = matches
    update.logs = logs.take()
    update.runOrders = runOrders
    update.groups = groups(in: table, warned: warned, at: time)
    return update
  }

  /// Returns the groups that the viewer requests; `nil` if it requests none, or if the operations are not counted
  /// completely yet.
  private func groups(
    in table: CollectorTable, warned: [SortKey]?, at time: MonitorTime
  ) -> OperationGroups? {
    guard let wanted = interest.groups else { return nil }
    var counted = order.isFilling ? complete?.groups : order.groups
    if let warned {
      counted = ListCounts()
      for report in warned.lazy.compactMap({ table.report($0.id) }) { counted?.add(report) }
    }
    guard let counted = counted?[wanted.by] else { return nil }
    let isAtRest = table.isAtRest
    return counted.groups(limit: wanted.limit) {
      table.complete(&$0, at: time, isAtRest: isAtRest)
    }
  }

  /// Returns the operations that the viewer requests in addition to the list: single operations and parts of the graph.
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
}
