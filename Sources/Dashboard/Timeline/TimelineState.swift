// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the timeline: its time window, its rows, and the selected row.
struct TimelineState: Sendable, Equatable {
  /// The maximum number of runs that the dashboard requests from the monitor.
  static let runLimit = 2_000
  /// The durations that the user can choose for the time window, in seconds.
  static let windows: [Int] = [5, 10, 30, 60, 120, 300, 600]

  /// Identifies a row of the timeline.
  enum RowID: Sendable, Hashable {
    /// The heading of a queue.
    case queue(QueueReport.ID)
    /// A slot of a queue, counted from 0.
    case slot(QueueReport.ID, Int)
  }

  /// A row of the timeline.
  struct Row: Sendable, Equatable {
    /// Identifies the row: the heading of a queue, or a slot of a queue.
    let id: RowID
    /// The runs in the row's slot, sorted by their start; empty if the row is a heading.
    let runs: [OperationRun]
    /// The number of the queue's runs that are not drawn, because the queue has too many slots; 0 if the row
    /// is not a heading.
    var leftOutCount = 0

    /// Whether the row is the heading of a queue.
    var isHeading: Bool { if case .queue = id { true } else { false } }
  }

  /// The runs of an update, how many of them are in the time window, and the queues.
  private struct Assigned: Equatable {
    let runs: [OperationRun]
    let count: Int
    let queues: [QueueReport.ID]
  }

  /// The rows of the timeline. The queues are sorted by id.
  private(set) var rows: [Row] = []
  /// The selected row; `nil` only if the timeline has no rows.
  private(set) var selected: RowID?
  private var windowIndex = 2
  /// The time of the update after which the runs were last assigned to slots.
  private var assignedUpdate: MonitorTime?
  private var assignments: [QueueReport.ID: SlotAssignment] = [:]
  /// What was last assigned to slots; `nil` if the runs must be assigned again.
  private var assigned: Assigned?
  private var index = 0
  private var top = 0
  private var isChosen = false
  /// The colors of the kinds of the drawn runs.
  private(set) var colors = KindColors()
  /// The selected run, if it is not the newest run of its slot; `nil` if the newest run is selected.
  private var chosenRun: OperationReport.ID?
  /// The start of the run that the user has selected, for the selection in other slots; `nil` if it is the newest run.
  private var moment: MonitorTime?

  /// The length of the time window: the timeline shows the runs from this long ago until now.
  var window: Duration { .seconds(Self.windows[windowIndex]) }

  /// The selected run, which is the newest run in the selected slot until the user selects an earlier one; `nil` if the
  /// slot has no run or a heading is selected.
  var run: OperationRun? {
    guard let runs = selectedRow?.runs else { return nil }
    return chosenRun.flatMap { id in runs.first { $0.id == id } } ?? runs.last
  }

  /// Whether the newest run of the selected slot is selected, so that a new run changes the selection.
  var follows: Bool { chosenRun == nil }

  /// The selected row; `nil` only if the timeline has no rows.
  var selectedRow: Row? { rows.indices.contains(index) ? rows[index] : nil }

  /// The queue of the selected row.
  var queue: QueueReport.ID? {
    switch selected {
    case .queue(let id), .slot(let id, _): id
    case nil: nil
    }
  }

  /// Whether the timeline draws runs, which move as time passes.
  var moves: Bool { rows.contains { !$0.runs.isEmpty } }

  /// Selects a longer or a shorter time window. Returns `false` if there is no such window.
  mutating func zoom(by step: Int) -> Bool {
    guard Self.windows.indices.contains(windowIndex + step) else { return false }
    windowIndex += step
    // A longer time window shows more runs. If the known runs kept their slots, the earlier runs could need
    // more slots than the queue has.
    assignments = [:]
    assigned = nil
    return true
  }

  /// Creates the rows of the timeline from the monitored state.
  mutating func settle(_ monitored: MonitoredState, at now: MonitorTime, height: Int) {
    let start = now - window
    let runs = (monitored.runs?.runs ?? []).filter { ($0.finished ?? now) >= start }
    let wasSelected = run
    let isNews = assignedUpdate != monitored.lastUpdate
    // Between two updates, the rows change only if a run leaves the time window.
    let assigned = Assigned(
      runs: monitored.runs?.runs ?? [], count: runs.count, queues: monitored.queues.map(\.id))
    if isNews || assigned != self.assigned {
      (assignedUpdate, self.assigned) = (monitored.lastUpdate, assigned)
      colors.settle(runs, at: now)
      assign(runs, of: monitored.queues, isNews: isNews)
    }
    let found = rows.firstIndex { $0.id == selected }
    guard isChosen else {
      select(rows.firstIndex { !$0.runs.isEmpty } ?? 0, height: height)
      isChosen = false
      return
    }
    select(found ?? index, height: height)
    keepChosenRun(wasSelected, height: height)
  }

  /// Creates the rows of runs. `isNews` says whether runs can be new.
  private mutating func assign(
    _ runs: [OperationRun], of queues: [QueueReport], isNews: Bool
  ) {
    let byQueue = Dictionary(grouping: runs, by: \.queue)
    assignments = assignments.filter { byQueue[$0.key] != nil }
    rows = []
    for queue in queues {
      let heading = rows.count
      rows.append(Row(id: .queue(queue.id), runs: []))
      guard let runs = byQueue[queue.id] else { continue }
      let strips = assignments[queue.id, default: SlotAssignment()].assign(runs, isNews: isNews)
      for (slot, strip) in strips.enumerated() where !strip.isEmpty {
        rows.append(Row(id: .slot(queue.id, slot), runs: strip))
      }
      rows[heading].leftOutCount = runs.count - strips.reduce(0) { $0 + $1.count }
    }
  }

  /// Selects the row of the chosen run, which may have moved to another slot. If the run has left the timeline, selects
  /// the next run of the slot.
  private mutating func keepChosenRun(_ old: OperationRun?, height: Int) {
    guard let chosenRun else { return }
    if let row = rows.firstIndex(where: { $0.runs.contains { $0.id == chosenRun } }) {
      return select(row, height: height)
    }
    guard let old, let next = selectedRow?.runs.first(where: { $0.started >= old.started }) else {
      self.chosenRun = nil
      return
    }
    choose(next)
  }

  /// Selects a run of the selected slot. The newest run of the slot stays selected only until there is a newer one.
  mutating func choose(_ run: OperationRun) {
    let isNewest = run.id == selectedRow?.runs.last?.id
    (chosenRun, moment) = isNewest ? (nil, nil) : (run.id, run.started)
    isChosen = true
  }

  /// Selects a run. Does nothing if no row contains the run.
  mutating func select(run id: OperationReport.ID, height: Int) {
    for (index, row) in rows.enumerated() {
      guard let run = row.runs.first(where: { $0.id == id }) else { continue }
      select(index, height: height)
      return choose(run)
    }
  }

  /// Selects a row. Does nothing if there is no such row.
  mutating func select(row index: Int, height: Int) {
    guard rows.indices.contains(index) else { return }
    move(by: index - self.index, height: height)
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row. If the user has selected an
  /// earlier run, selects the run of the other slot that began nearest to it.
  mutating func move(by offset: Int, height: Int) {
    let (target, overflow) = index.addingReportingOverflow(offset)
    select(overflow ? rows.count - 1 : target, height: height)
    chosenRun = nil
    guard let moment, let runs = selectedRow?.runs, let newest = runs.last else { return }
    func distance(_ run: OperationRun) -> Duration {
      max(run.started - moment, moment - run.started)
    }
    let nearest = runs.min { distance($0) < distance($1) }
    chosenRun = nearest?.id == newest.id ? nil : nearest?.id
  }

  /// Returns the index of the first row on a screen of this height.
  func top(height: Int) -> Int {
    let top = min(self.top, max(0, rows.count - height))
    return max(0, min(max(top, index - height + 1), index))
  }

  private mutating func select(_ index: Int, height: Int) {
    guard !rows.isEmpty else {
      (selected, self.index, top) = (nil, 0, 0)
      return
    }
    self.index = max(0, min(index, rows.count - 1))
    selected = rows[self.index].id
    isChosen = true
    top = top(height: height)
  }
}
