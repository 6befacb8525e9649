// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of a recorded process at one moment. It creates updates with the data that a viewer
/// requests (its interest), as the collector of a running process does.
struct ReplayTable: Sendable {
  private(set) var state: ProcessState
  /// The reports that were sent to the viewer.
  private var reported: [OperationReport.ID: OperationReport] = [:]
  /// The events since the last update for the viewer; `nil` if the viewer requests no events.
  private var events: [OperationEvent]?
  private var logs = ReplayLogs()
  private var isBeginning = false
  private var eventFilter: OperationFilter?
  /// The number of operations of each kind that have ended. It includes those that the process has removed since the
  /// table was reset.
  private(set) var endedKinds: [String: Int] = [:]

  /// The maximum number of events that are kept for the viewer.
  private static let eventLimit = 100_000

  /// Creates a table from a state.
  ///
  /// - Parameter state: The state of the process, in which each operation must know its dependents.
  init(_ state: ProcessState = ProcessState(linkingDependents: true)) { self.state = state }

  /// Applies the next update of the recording. The update may contain the complete state.
  mutating func apply(_ update: Update, isWhole: Bool) {
    if events != nil {
      let names = filterNames
      let changed = Dictionary(
        update.changed.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      for report in update.changed {
        note(report, since: state.operations[report.id], at: update.time, names, changed)
      }
    }
    for report in update.changed where report.state.isOver {
      // A complete state has all operations again.
      if state.operations[report.id]?.state.isOver == true { continue }
      endedKinds[report.kind, default: 0] += 1
    }
    state.apply(update, isWhole: isWhole)
  }

  /// Removes the state, so that another moment can be shown. The next update must contain the
  /// complete state.
  mutating func reset() {
    state = ProcessState(linkingDependents: true)
    reported = [:]
    logs = ReplayLogs()
    events = nil
    endedKinds = [:]
  }

  /// Returns an update for the viewer, with all changes since the previous one.
  ///
  /// - Parameters:
  ///   - interest: The viewer's interest.
  ///   - time: The moment that the replay shows.
  /// - Returns: The update; `nil` if the state is empty.
  mutating func takeUpdate(for interest: Interest, at time: MonitorTime) -> Update? {
    guard var update = state.latest else { return nil }
    update.time = time
    update.behind = .zero
    update.warnings.removeAll { !interest.warningKinds.contains($0.kind) }
    let listed = list(interest, warnings: update.warnings, at: time)
    var wanted = Set(listed.prefix(max(0, interest.rowLimit ?? 0)).lazy.map(\.id))
    if interest.rowLimit == nil {
      wanted = Set(state.operations.ids)
    } else {
      let singled = singledOut(interest)
      wanted.formUnion(singled)
      let operations = state.operations
      OperationReport.addCauses(to: &wanted, for: interest) { id in
        operations[id].map { $0.cancellationCause?.operation }
      }
      for warning in update.warnings { wanted.formUnion(warning.operations + warning.awaited) }
    }
    addViews(for: interest, listed, to: &update)
    if interest.runOrder?.queues.isEmpty == false {
      wanted.formUnion(update.runOrders.lazy.flatMap { $0.executing + $0.ready })
    }
    update.detail = interest.detail.flatMap { state.operations[$0] }.flatMap { detail(of: $0) }
    wanted.formUnion(update.detail?.namedOperations ?? [])
    update.matches = interest.search.map {
      matches(of: $0, in: listed, isReversed: interest.order.isReversed)
    }
    wanted.formUnion(update.matches?.ids ?? [])
    report(wanted, in: &update)
    update.matchCount = interest.rowLimit == nil ? state.operations.count : listed.count
    update.keptCount = state.operations.count
    update.keptFinishedCount = state.operations.all.count(where: \.state.isOver)
    update.dependents =
      interest.subjects.isEmpty ? nil : state.operations.dependents(of: interest.subjects)
    update.rootCount =
      interest.rootLimit > 0 ? state.operations.all.count(where: \.isRoot) : nil
    update.events = takeEvents(interest, at: time)
    update.runs = interest.timeline.map { runs($0, at: time) }
    update.kindTimes = [:]
    update.logs = logs.take(from: state.logs, for: interest.logs)
    return update
  }

  /// Adds the run orders, the groups and the times of queues that the viewer requests.
  private func addViews(
    for interest: Interest, _ listed: [SortKey], to update: inout Update
  ) {
    update.runOrders = interest.runOrder.map { runOrders($0) } ?? []
    update.groups = interest.groups.map { request in
      groups(request, of: listed.map(\.id), at: update.time)
    }
    let times = interest.queueTimes ? queueTimes(at: update.time) : nil
    for index in update.queues.indices {
      update.queues[index].times = times.map { $0[update.queues[index].id] ?? TimeStatistics() }
    }
  }

  private mutating func report(_ wanted: Set<OperationReport.ID>, in update: inout Update) {
    var now: [OperationReport.ID: OperationReport] = [:]
    for id in wanted {
      guard let report = state.operations[id] else { continue }
      now[id] = report
      if reported[id] != report { update.changed.append(report) }
    }
    update.changed.sort { $0.id < $1.id }
    update.removed = reported.keys.filter { now[$0] == nil }.sorted()
    reported = now
  }

  // MARK: The list

  /// Returns the keys of the operations in the list without a limit, in the order of the list; empty
  /// if the viewer requests neither rows of the list nor groups.
  private func list(
    _ interest: Interest, warnings: [MonitorWarning], at time: MonitorTime
  ) -> [SortKey] {
    guard interest.rowLimit != nil || interest.groups != nil else { return [] }
    let names = state.queueNames
    let positions = interest.order.column == .position ? positions : [:]
    let warned = interest.showsWarnedOnly ? Set(warnings.lazy.flatMap(\.markedOperations)) : nil
    let keys = state.operations.all.compactMap { report -> SortKey? in
      if let warned, !warned.contains(report.id) { return nil }
      return interest.sortKey(
        of: report, queueName: names[report.queue] ?? "", at: time, position: positions[report.id])
    }
    return interest.order.isReversed ? keys.sorted(by: >) : keys.sorted()
  }

  /// Returns the matches of a search in a sorted list.
  private func matches(
    of search: Interest.Search, in list: [SortKey], isReversed: Bool
  ) -> SearchMatches {
    let found = list.filter { state.operations[$0.id]?.isMatch(of: search.text) == true }
    let start = list.first { $0.id == search.start }
    let position =
      start.map { start in found.count { isReversed ? $0 > start : $0 < start } } ?? 0
    return SearchMatches(search, count: found.count, position: position) { found[$0].map(\.id) }
  }

  private func runs(_ wanted: Interest.Timeline, at time: MonitorTime) -> RecentRuns {
    let start = time - wanted.window
    let runs = state.operations.all.compactMap { report -> OperationRun? in
      guard let started = report.started, report.finished.map({ $0 > start }) ?? true else {
        return nil
      }
      return OperationRun(
        id: report.id, title: report.title, queue: report.queue, state: report.state,
        started: started, finished: report.finished, kind: report.kind)
    }
    // Runs that have not ended come first. Ended runs follow, the newest first.
    let newest = runs.sorted {
      ($0.finished ?? MonitorTime(nanoseconds: .max), $0.id)
        > ($1.finished ?? MonitorTime(nanoseconds: .max), $1.id)
    }
    let kept = newest.prefix(max(0, wanted.limit)).sorted {
      ($0.started, $0.id) < ($1.started, $1.id)
    }
    return RecentRuns(runs: kept, count: runs.count)
  }

  // MARK: Events

  private mutating func takeEvents(
    _ interest: Interest, at time: MonitorTime
  ) -> EventNews? {
    guard interest.eventLimit > 0 else {
      events = nil
      return nil
    }
    if events == nil || eventFilter != interest.filter {
      events = []
      isBeginning = true
      eventFilter = interest.filter
      let names = filterNames
      for report in state.operations.all where report.started != nil {
        note(report, since: nil, at: time, names)
      }
    }
    let all = (events ?? []).sorted { ($0.time, $0.operation) < ($1.time, $1.operation) }
    let news = EventNews(
      events: Array(all.suffix(interest.eventLimit)),
      skippedCount: isBeginning ? 0 : max(0, all.count - interest.eventLimit),
      isBeginning: isBeginning)
    isBeginning = false
    events = []
    return news
  }

  /// The names of the queues, which the filter of events needs.
  private var filterNames: [QueueReport.ID: String] { eventFilter == nil ? [:] : state.queueNames }

  /// Adds the events for the state changes of an operation up to a moment. The reports in `changed`
  /// replace the reports in the state.
  private mutating func note(
    _ report: OperationReport, since old: OperationReport?, at time: MonitorTime,
    _ names: [QueueReport.ID: String],
    _ changed: [OperationReport.ID: OperationReport] = [:]
  ) {
    guard events?.count ?? 0 < Self.eventLimit else { return }
    let queueName = names[report.queue] ?? ""
    var steps = OperationSteps(from: old, to: report, at: time)
    let operations = state.operations
    steps.order(
      after: report.dependencies.lazy.compactMap { changed[$0] ?? operations[$0] },
      before: operations.dependents(of: report.id).lazy.compactMap {
        changed[$0] ?? operations[$0]
      })
    for step in steps.steps {
      var then = report
      then.state = step.new
      if eventFilter?.matches(then, queueName: queueName, at: step.time) ?? true {
        events?.append(OperationEvent(step, of: report))
      }
    }
  }

  // MARK: The graph

  private func singledOut(_ interest: Interest) -> Set<OperationReport.ID> {
    var singled = interest.operations
    for graph in interest.graphs {
      let part = state.operations.neighbourhood(
        of: [graph.root], graph.direction, limit: graph.limit)
      singled.formUnion(part.lazy.map(\.id))
    }
    if interest.rootLimit > 0 {
      let roots = state.operations.all.lazy.filter(\.isRoot).map { SortKey($0) }
      let first = roots.sorted().prefix((interest.rootLimit + 1) / 2).map(\.id)
      let part = state.operations.neighbourhood(of: first, .waitsFor, limit: interest.rootLimit)
      singled.formUnion(part.lazy.map(\.id))
    }
    return singled
  }

  // MARK: Why

  /// Returns the reasons why an operation does not run, as its report shows them; `nil` if the
  /// operation runs or has ended.
  private func detail(of report: OperationReport) -> OperationDetail? {
    guard !report.state.isOver, report.state != .executing, report.state != .cancelling else {
      return nil
    }
    return OperationDetail(id: report.id, reasons: reasons(of: report))
  }
}
