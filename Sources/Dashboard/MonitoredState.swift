// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// All that is known of the monitored process.
struct MonitoredState: Sendable, Equatable {
  /// Who is watched; `nil` until it has said so.
  private(set) var hello: Hello?
  /// What it has told.
  private(set) var state = ProcessState(linkingDependents: true)
  /// The operations that warnings are about.
  private(set) var warned: Set<OperationReport.ID> = []
  /// Why nothing more will come; `nil` while it may.
  private(set) var endedReason: String?
  /// Why nothing comes until there is another greeting; `nil` while something may.
  private(set) var disconnectedReason: String?
  /// For how long nothing was heard of the process, although it was asked; zero where it is heard.
  private(set) var silence = Duration.zero

  /// What has happened, while the events are shown.
  private(set) var events = EventLog()
  /// How many operations finished in each of the last seconds.
  private(set) var rates = RateHistory()

  private var queueIndex: [QueueReport.ID: Int] = [:]
  /// Whether all this is from before the last greeting: the next update tells everything anew.
  private var isOutdated = false

  /// The processes, by number, where several are watched as one; empty where one is.
  var processes: [ProcessReport] { state.latest?.processes ?? [] }
  /// Every live queue, by id.
  var queues: [QueueReport] { state.queues }
  /// The operations that the dashboard has asked for.
  var operations: OperationStore { state.operations }
  /// How many operations the list would hold without a limit.
  var matchCount: Int { state.latest?.matchCount ?? 0 }
  /// How many operations the monitor keeps.
  var keptCount: Int { state.latest?.keptCount ?? 0 }
  /// How many operations no other depends on; `nil` where that is not known.
  var rootCount: Int? { state.latest?.rootCount }
  /// What probably is not meant, what matters most first.
  var warnings: [MonitorWarning] { state.warnings }
  /// What depends on the operations that keys would cancel.
  var dependents: Dependents? { state.latest?.dependents }
  /// The exact counts of all queues together, never counted from rows.
  var counts: StateCounts { state.counts }
  /// How many changes of the history were lost.
  var lostChanges: UInt64 { state.lostChanges }
  /// When the last update was gathered; `nil` before the first.
  var lastUpdate: MonitorTime? { state.latest?.time }
  /// For how long the monitor had more to tell than it could, as of the last update.
  var behind: Duration { state.latest?.behind ?? .zero }
  /// What ran lately; `nil` while the timeline is not shown.
  var runs: RecentRuns? { state.latest?.runs }
  /// How long operations waited and ran lately.
  var times: TimeStatistics { state.latest?.times ?? TimeStatistics() }
  /// The same for the classes of the operations that the dashboard has asked for singly.
  var classTimes: [String: TimeStatistics] { state.latest?.classTimes ?? [:] }
  /// What is known of the operation that is shown alone.
  var detail: OperationDetail? { state.latest?.detail }

  /// Whether nothing comes.
  var isSilent: Bool { endedReason != nil || disconnectedReason != nil }

  /// One queue; `nil` where it is gone.
  func queue(_ id: QueueReport.ID) -> QueueReport? { queueIndex[id].map { queues[$0] } }

  /// Takes in a message. A command's result changes nothing here.
  mutating func apply(_ message: MonitorMessage) {
    switch message {
    case .hello(let hello):
      isOutdated = self.hello != nil
      self.hello = hello
      (endedReason, disconnectedReason, silence) = (nil, nil, .zero)
      rates.alignSeconds(to: hello)
    case .update(let update):
      // From a connection that is lost.
      guard disconnectedReason == nil else { return }
      // Only now, so that what was shown stays until there is something else to show.
      if isOutdated, let hello {
        self = MonitoredState()
        apply(.hello(hello))
      }
      state.apply(update)
      queueIndex = Dictionary(
        queues.indices.map { (queues[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
      warned = Set(
        warnings.lazy.flatMap { warning in
          // Those of low priority are the ones to be raised.
          warning.operations + (warning.kind == .priorityInversion ? warning.awaited : [])
        })
      if let news = update.events { events.apply(news) }
      rates.note(total: counts.finished + counts.cancelled, at: update.time)
    case .commandResult:
      break
    case .silent(let duration):
      silence = duration
    case .disconnected(let reason):
      disconnectedReason = reason
    case .ended(let reason):
      (endedReason, disconnectedReason) = (reason, nil)
    }
  }

  /// Completes the seconds that are over.
  mutating func advance(to time: MonitorTime) { rates.advance(to: time) }

  /// Forgets what has happened: it was asked for by another filter.
  mutating func forgetEvents() { events = EventLog() }
}
