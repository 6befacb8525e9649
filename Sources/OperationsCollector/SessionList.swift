// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What one session is to be shown: the operations that its filter lets through, in its order.
///
/// Every change of an operation is taken over at once. What was there before the list, or before its
/// order or filter changed, is taken in step by step, so that the collector has time for other things
/// in between. Used by the collector's thread alone.
final class SessionList {
  /// A filter that looks at ages is applied anew so often, and rarer where that takes long.
  private static let refreshInterval = Duration.seconds(1)
  /// The part of the time that may be spent on it: one in so many.
  private static let refreshShare = 5

  private(set) var interest: Interest
  /// The version of the table up to which the session has been told everything.
  private var toldVersion: UInt64 = 0
  /// The operations that the session has been told of.
  private var told: Set<OperationReport.ID> = []

  private var order = FilledOrder()
  /// What is shown until a list that is made anew is complete.
  private var complete: (keys: [SortKey], count: Int)?
  /// The operations that no other depends on, while these are wanted.
  private var roots = FilledOrder()
  /// The moment for which ages are taken.
  private var now: MonitorTime
  private var events = EventBuffer()
  private var detailWatch = DetailWatch()
  /// When the session was told something last; `nil` for never.
  private var lastTold: MonitorTime?
  /// Whether there is something that somebody waits for: it does not wait for the interval.
  private var isUrgent = true
  /// When the session is to be told what came too soon after that; `nil` where there is nothing.
  private(set) var nextTelling: MonitorTime?
  /// How many steps the session was not told of because there were too many at once.
  private var lostChanges: UInt64 = 0
  /// How many of them it may have wanted to be told of.
  private var lostEvents: UInt64 = 0
  /// How many of them are steps that the table does not know of either.
  private var knownLostSteps: UInt64

  init(_ interest: Interest, in table: CollectorTable, at now: MonitorTime) {
    self.interest = interest
    self.now = now
    knownLostSteps = table.lostSteps
    refill(from: table)
    refillRoots(from: table)
    beginEvents(limit: interest.eventLimit, from: table)
  }

  /// Whether operations are still to be taken in.
  var isFilling: Bool { order.isFilling || roots.isFilling }

  /// When the list changes although no operation does; `nil` for never.
  var nextRefresh: MonitorTime? {
    guard interest.filter?.dependsOnTime == true, interest.rowLimit != nil else { return nil }
    return now + max(Self.refreshInterval, order.fillingTime * Self.refreshShare)
  }

  /// When the detail is to be looked at again although nothing changes; `nil` for never, or for when the
  /// session is told something anyway.
  var nextDetail: MonitorTime? { nextTelling == nil ? detailWatch.nextAnswer : nil }

  /// The viewer takes no update at present, and will ask for the next one.
  func postponeDetail() { detailWatch.postpone() }

  func change(to new: Interest, in table: CollectorTable, at now: MonitorTime) {
    let mustRefill =
      interest.order.column != new.order.column || interest.filter != new.filter
      || interest.hidesOver != new.hidesOver
    let mustBeginEvents =
      (interest.eventLimit > 0) != (new.eventLimit > 0) || interest.filter != new.filter
    let mustRefillRoots = (interest.rootLimit > 0) != (new.rootLimit > 0)
    interest = new
    isUrgent = true
    if mustRefillRoots { refillRoots(from: table) }
    if mustBeginEvents {
      beginEvents(limit: new.eventLimit, from: table)
    } else {
      events.setLimit(new.eventLimit)
    }
    guard mustRefill else { return }
    self.now = now
    complete = nil
    refill(from: table)
  }

  /// Applies a filter that looks at ages anew, where it is time for that.
  func refreshIfDue(from table: CollectorTable, at now: MonitorTime) {
    guard !order.isFilling, let due = nextRefresh, due <= now else { return }
    self.now = now
    remake(from: table)
  }

  /// Makes the list anew, and shows what it was until that is done.
  private func remake(from table: CollectorTable) {
    // Half a list is shown only where there has never been a whole one.
    if !order.isFilling { complete = (rows, order.count) }
    refill(from: table)
  }

  private func refill(from table: CollectorTable) { order.begin(with: Array(table.entries.keys)) }

  private func refillRoots(from table: CollectorTable) {
    roots.begin(with: interest.rootLimit > 0 ? Array(table.entries.keys) : [])
  }

  /// Takes in what was there before, until it is done or a time is reached.
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
    order.replace(nil, by: key(of: report, in: table))
    roots.replace(nil, by: rootKey(of: report))
  }

  func remove(_ report: OperationReport, in table: CollectorTable) {
    order.replace(key(of: report, in: table), by: nil)
    roots.replace(rootKey(of: report), by: nil)
  }

  func replace(_ old: OperationReport, by new: OperationReport, in table: CollectorTable) {
    order.replace(key(of: old, in: table), by: key(of: new, in: table))
    roots.replace(rootKey(of: old), by: rootKey(of: new))
  }

  /// The name of a queue has changed, by which the list may be ordered or filtered.
  func queueNameDidChange(in table: CollectorTable) {
    let isFiltered = interest.filter?.dependsOnQueueNames == true
    if interest.order.column == .queue || isFiltered { remake(from: table) }
  }

  /// `nil` where the operation does not belong into the list.
  private func key(of report: OperationReport, in table: CollectorTable) -> SortKey? {
    if interest.rowLimit == nil || interest.hidesOver && report.state.isOver { return nil }
    let queueName = table.queues[report.queue]?.name ?? ""
    if let filter = interest.filter, !filter.matches(report, queueName: queueName, at: now) {
      return nil
    }
    return SortKey(report, queueName: queueName, by: interest.order.column)
  }

  /// `nil` where another operation depends on it, or nobody asks.
  private func rootKey(of report: OperationReport) -> SortKey? {
    interest.rootLimit > 0 && report.dependentCount == 0 ? SortKey(report) : nil
  }

  // MARK: History

  /// Notes the steps of an operation, where events are wanted.
  func noteSteps(
    from old: OperationReport?, to new: OperationReport, in table: CollectorTable
  ) {
    guard events.limit > 0 else { return }
    let queueName = table.queues[new.queue]?.name ?? ""
    for step in OperationSteps(from: old, to: new, at: table.readingTime).steps {
      if let filter = interest.filter {
        var report = new
        report.state = step.new
        guard filter.matches(report, queueName: queueName, at: step.time) else { continue }
      }
      events.add(OperationEvent(step, of: new))
    }
  }

  /// Begins with what can still be told of the time before: the steps of what runs, and of what has
  /// finished last.
  private func beginEvents(limit: Int, from table: CollectorTable) {
    events = EventBuffer()
    events.setLimit(limit)
    for id in table.running.prefix(limit) + table.lastFinished(limit) {
      if let report = table.report(id) { noteSteps(from: nil, to: report, in: table) }
    }
  }

  // MARK: Telling

  private var rows: [SortKey] {
    guard let limit = interest.rowLimit else { return [] }
    return order.prefix(limit, isReversed: interest.order.isReversed)
  }

  /// The rows at the front of the list, and how many the list has without a limit.
  private func listed(
    in table: CollectorTable, warnings: [MonitorWarning]
  ) -> (keys: [SortKey], count: Int) {
    guard let limit = interest.rowLimit else { return ([], table.entries.count) }
    guard interest.showsWarnedOnly else { return complete ?? (rows, order.count) }
    // Looked up anew each time: warnings name some hundreds of operations at most.
    let keys = Set(warnings.lazy.flatMap(\.operations)).compactMap { id in
      table.report(id).flatMap { key(of: $0, in: table) }
    }
    let sorted = interest.order.isReversed ? keys.sorted(by: >) : keys.sorted()
    return (Array(sorted.prefix(limit)), keys.count)
  }

  /// Whether it is time to tell the session what there is.
  func mayTell(at now: MonitorTime, interval: Duration) -> Bool {
    // A little before is time: else each reading would be followed by another waking.
    if let due = lastTold.map({ $0 + interval }), !isUrgent, now < due - interval / 8 {
      nextTelling = due
      return false
    }
    nextTelling = nil
    return true
  }

  /// What the session has to be told now, of what has changed since the last time.
  func takeUpdate(from table: CollectorTable) -> Update {
    let time = ProcessFacts.now
    lastTold = time
    isUrgent = false
    let warnings = table.warnings(at: time, of: interest.warningKinds)
    let listed = listed(in: table, warnings: warnings)
    let singled = singledOut(in: table)
    let wanted = wantedOperations(listed.keys, singled, from: table, warnings: warnings)
    var changed: [OperationReport] = []
    for id in wanted {
      guard let entry = table.entries[id] else { continue }
      if entry.version > toldVersion || !told.contains(id) { changed.append(entry.report) }
    }
    let removed = told.subtracting(wanted)
    told = wanted
    toldVersion = table.version
    var update = Update(
      time: time, queues: table.queues.values.sorted { $0.id < $1.id },
      changed: changed.sorted { $0.id < $1.id }, removed: removed.sorted(),
      matchCount: listed.count,
      keptCount: table.entries.count,
      dependents: interest.subjects.isEmpty ? nil : table.dependents(of: interest.subjects))
    update.rootCount = interest.rootLimit > 0 && !roots.isFilling ? roots.count : nil
    update.events = takeEvents(from: table)
    update.lostChanges = lostChanges
    update.runs = interest.timeline.map { table.recentRuns($0, at: time) }
    update.warnings = warnings
    if lostEvents > 0, interest.warningKinds.contains(.historyLost) {
      update.warnings.append(MonitorWarning(kind: .historyLost, count: Int(lostEvents)))
    }
    update.times = table.times.statistics
    update.classTimes = table.classTimes(of: singled, at: time)
    update.detail = detailWatch.answer(about: interest.detail, at: ProcessFacts.now) {
      table.detail(of: $0)
    }
    return update
  }

  /// What has happened since the last time, and counts what of it is missing.
  private func takeEvents(from table: CollectorTable) -> EventNews? {
    let lostSteps = table.lostSteps - knownLostSteps
    knownLostSteps = table.lostSteps
    var news = events.take()
    lostChanges += lostSteps + UInt64(news?.skippedCount ?? 0)
    if news?.isBeginning == false { news?.skippedCount += Int(lostSteps) }
    lostEvents += UInt64(news?.skippedCount ?? 0)
    return news
  }

  /// The operations that are wanted besides the list: single ones, and parts of the graph.
  private func singledOut(in table: CollectorTable) -> Set<OperationReport.ID> {
    var singled = interest.operations
    for graph in interest.graphs { singled.formUnion(table.neighbourhood(graph)) }
    if interest.rootLimit > 0 {
      // Not all of them roots: of these alone nobody learns what they wait for.
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
    return wanted.filter { table.entries[$0] != nil }
  }
}
