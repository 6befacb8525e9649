// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The known state of the monitored process.
struct MonitoredState: Sendable, Equatable {
  /// The state of the process according to the messages that have arrived.
  private(set) var source = SourceState(ProcessState(linkingDependents: true))
  /// The operations with warnings.
  private(set) var warned: Set<OperationReport.ID> = []
  /// The operations that never finish because of a deadlock.
  private(set) var deadlocked = DeadlockedOperations()

  /// The past events. They are kept only while the dashboard shows events.
  private(set) var events = EventLog()
  /// The number of operations that finished in each of the last seconds.
  private(set) var rates = RateHistory()

  /// The order in which each queue starts its ready operations, according to the last update; empty if the
  /// dashboard has not requested it.
  private(set) var runOrders: [QueueReport.ID: RunOrder] = [:]
  private var positions: [OperationReport.ID: Position] = [:]
  /// The starts and the use of each queue in the last minute.
  var queueHistories: [QueueReport.ID: QueueHistory] = [:]

  /// The number of operations of each group that ended in each of the last seconds.
  var groupHistories: [OperationGroups.Key: RateHistory] = [:]

  /// What the columns of the list have shown.
  private(set) var columnContents = ColumnContents()
  private var priorities = PriorityComparison()
  /// Whether reported operations had different priorities.
  var hasDifferentPriorities: Bool { priorities.areDifferent }

  private var queueIndex: [QueueReport.ID: Int] = [:]

  /// The greeting of the process; `nil` before it has arrived.
  var hello: Hello? { source.hello }
  /// The state of the process according to the updates that have arrived.
  var state: ProcessState { source.process }
  /// The reason why the updates have ended; `nil` if they have not ended.
  var endedReason: String? { source.endedReason }
  /// The reason why no updates arrive until the next greeting; `nil` if updates can arrive.
  var disconnectedReason: String? { source.disconnectedReason }
  /// The time for which the process has not answered; zero if it answers.
  var silence: Duration { source.silence }
  /// Whether no updates arrive.
  var isSilent: Bool { source.isSilent }

  /// The watched processes, sorted by their numbers, if several processes are watched together; otherwise
  /// empty.
  var processes: [ProcessReport] { state.latest?.processes ?? [] }
  /// All queues that exist, sorted by id.
  var queues: [QueueReport] { state.queues }
  /// The operations that the monitor has reported because the dashboard requested them.
  var operations: OperationStore { state.operations }
  /// The number of operations that the list would have without a limit on its rows.
  var matchCount: Int { state.latest?.matchCount ?? 0 }
  /// The number of operations that the monitor keeps.
  var keptCount: Int { state.latest?.keptCount ?? 0 }
  /// The number of unfinished operations that the monitor keeps.
  var keptUnfinishedCount: Int { state.latest?.keptUnfinishedCount ?? 0 }
  /// The number of unfinished operations that no other operation depends on; `nil` if it is unknown.
  var rootCount: Int? { state.latest?.rootCount }
  /// The warnings, the most important first.
  var warnings: [MonitorWarning] { state.warnings }
  /// The dependents of the operations that the user would cancel with the next key.
  var dependents: Dependents? { state.latest?.dependents }
  /// The exact sum of the counts of all queues. It does not depend on the shown rows.
  var counts: StateCounts { state.counts }
  /// The number of state changes that the process did not record.
  var lostChanges: UInt64 { state.lostChanges }
  /// The time of the last update; `nil` before the first update.
  var lastUpdate: MonitorTime? { state.latest?.time }
  /// The time for which the monitor has had more changes than it could report, according to the last update.
  var behind: Duration { state.latest?.behind ?? .zero }
  /// The recent runs of operations; `nil` while the timeline is not shown.
  var runs: RecentRuns? { state.latest?.runs }
  /// How long recent operations waited and ran.
  var times: TimeStatistics { state.latest?.times ?? TimeStatistics() }
  /// The waiting and run times of each kind for which the dashboard has requested them.
  var kindTimes: [String: TimeStatistics] { state.latest?.kindTimes ?? [:] }
  /// The groups of the list; `nil` if the dashboard has not requested them, or before the monitor has counted them.
  var groups: OperationGroups? { state.latest?.groups }
  /// The details of the operation on the detail screen.
  var detail: OperationDetail? { state.latest?.detail }

  /// Returns the last log lines of an operation; `nil` if nothing is known about them.
  func log(of id: OperationReport.ID) -> OperationLog? { state.logs[id] }

  /// The matches of the search, according to the last update; `nil` if the monitor has not reported any.
  var matches: SearchMatches? { state.latest?.matches }

  /// Returns a queue; `nil` if it no longer exists.
  func queue(_ id: QueueReport.ID) -> QueueReport? { queueIndex[id].map { queues[$0] } }

  /// Applies a message. The result of a command changes no state.
  mutating func apply(_ message: MonitorMessage) {
    if case .silent(let duration) = message, duration > .zero {
      interruptQueueHistories()
      interruptGroupHistories()
    }
    switch source.apply(message) {
    case .none: break
    case .greeted(let hello): rates.alignSeconds(to: hello)
    case .updated(let update): note(update)
    case .replaced(let update):
      (events, rates) = (EventLog(), RateHistory())
      queueHistories = [:]
      forgetGroupHistories()
      if let hello { rates.alignSeconds(to: hello) }
      note(update)
    }
  }

  /// Computes the values that depend on the applied update.
  private mutating func note(_ update: Update) {
    queueIndex = Dictionary(
      queues.indices.map { (queues[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
    warned = Set(warnings.lazy.flatMap(\.markedOperations))
    deadlocked = DeadlockedOperations(warnings, in: operations)
    priorities.note(update.changed.lazy.map(\.priority))
    columnContents.note(update.changed)
    if let news = update.events { events.apply(news) }
    rates.note(total: counts.finished + counts.cancelled, at: update.time)
    noteRunOrders(update.runOrders)
    noteQueueHistories(update)
    noteGroupHistories(update)
  }

  private mutating func noteRunOrders(_ orders: [RunOrder]) {
    guard !orders.isEmpty || !runOrders.isEmpty else { return }
    runOrders = Dictionary(orders.map { ($0.queue, $0) }, uniquingKeysWith: { first, _ in first })
    positions = [:]
    for order in orders {
      for (index, id) in order.ready.enumerated() {
        positions[id] = Position(
          queue: order.queue, number: index + 1, isEstimated: order.isEstimated)
      }
    }
  }

  /// The place of a ready operation in the order in which its queue starts its operations.
  struct Position: Sendable, Equatable {
    /// The queue of the operation.
    let queue: QueueReport.ID
    /// The place of the operation. It is 1 if the queue starts the operation next.
    let number: Int
    /// Whether the place is estimated, because the source has not reported the order.
    let isEstimated: Bool
  }

  /// Returns the place of a ready operation in the order in which its queue starts its operations; `nil` if the
  /// place is not known, or if the operation is not ready.
  func position(of id: OperationReport.ID) -> Position? { positions[id] }

  /// Adds the seconds that have ended at `time` to the histories.
  mutating func advance(to time: MonitorTime) {
    rates.advance(to: time)
    advanceQueueHistories(to: time)
    advanceGroupHistories(to: time)
  }

  /// Removes all events. The dashboard calls this function when it requests events with another filter.
  mutating func forgetEvents() { events = EventLog() }
}

/// Determines whether operations have had different priorities.
///
/// The priorities of changed operations are read once, and none is read after a difference was found.
/// Therefore the cost does not depend on the number of known operations.
struct PriorityComparison: Sendable, Equatable {
  /// The first priority; `nil` before the first operation.
  private var first: OperationPriority?
  /// Whether two operations had different priorities.
  private(set) var areDifferent = false

  /// Compares the priorities of operations that have changed with the first priority.
  mutating func note(_ changed: some Sequence<OperationPriority>) {
    guard !areDifferent else { return }
    for priority in changed {
      first = first ?? priority
      if priority == first { continue }
      areDifferent = true
      return
    }
  }
}
