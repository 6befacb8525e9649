// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol
import OperationsCore
import Synchronization

/// Gathers what the queues of this process report and hands it to the sessions.
///
/// Its thread starts with the first session and ends after the last one. It sleeps until a queue
/// has news or a session a command, reads the news at most as often as the quickest session wants
/// it, and carries out commands at once.
final class Collector: Sendable {
  static let shared = Collector()

  /// Why the thread is woken.
  enum Bell: UInt32 {
    /// A queue has news: may wait until the interval is over.
    case changes = 1
    /// A session came, left or has a command: may not.
    case sessions = 2
  }

  private struct WeakSession {
    weak var session: MonitorSession?
  }

  private struct State {
    var sessions: [ObjectIdentifier: WeakSession] = [:]
    /// Sessions that have not been given everything yet.
    var newcomers: Set<ObjectIdentifier> = []
    var commands: [(command: MonitorCommand, session: MonitorSession)] = []
    var isRunning = false
  }

  /// How many operations are read under a queue's lock at once: some ten microseconds' worth.
  private static let slice = 1_024

  private let recorder = RecorderID()
  private let state = Locked(State())
  private let bell = Atomic<UInt32>(0)

  // MARK: Sessions

  func attach(_ session: MonitorSession) {
    let mustStart = state.withLock { state in
      state.sessions[ObjectIdentifier(session)] = WeakSession(session: session)
      state.newcomers.insert(ObjectIdentifier(session))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() } else { ring(.sessions) }
  }

  func detach(_ session: ObjectIdentifier) {
    state.withLock { state in
      state.sessions[session] = nil
      state.newcomers.remove(session)
    }
    ring(.sessions)
  }

  func perform(_ command: MonitorCommand, for session: MonitorSession) {
    state.withLock { $0.commands.append((command, session)) }
    ring(.sessions)
  }

  func ring(_ reason: Bell) {
    let old = bell.bitwiseOr(reason.rawValue, ordering: .acquiringAndReleasing).oldValue
    if old & reason.rawValue == 0 { withUnsafePointer(to: bell) { csystem_futex_wake($0, 1) } }
  }

  // MARK: Thread

  private func start() {
    // There is one collector, which is never destroyed.
    let error = csystem_start_thread(
      { Unmanaged<Collector>.fromOpaque($0).takeUnretainedValue().main() },
      Unmanaged.passUnretained(self).toOpaque())
    if error != 0 { state.withLock { $0.isRunning = false } }
  }

  private func main() {
    csystem_set_thread_name("opq-collector")
    var table = CollectorTable()
    QueueRegistry.startRecording(recorder) { Collector.shared.ring(.changes) }
    var lastRead = ContinuousClock.now - .seconds(1)
    while let interval = shortestInterval() {
      let reasons = waitForBell(readingFrom: lastRead + interval)
      carryOutCommands(table)
      if reasons & Bell.changes.rawValue != 0 || hasNewcomers() {
        lastRead = .now
        read(into: &table)
        deliver(&table)
      }
    }
  }

  /// `nil`, and everything ended, where no session is left.
  private func shortestInterval() -> Duration? {
    let sessions = liveSessions()
    if let shortest = sessions.map(\.minimumInterval).min() { return shortest }
    QueueRegistry.stopRecording(recorder)
    let isOver = state.withLock { state in
      state.isRunning = !state.sessions.isEmpty
      return !state.isRunning
    }
    if isOver { return nil }
    // Somebody came in between.
    QueueRegistry.startRecording(recorder) { Collector.shared.ring(.changes) }
    return .zero
  }

  /// Sleeps until something rings that may be served now.
  private func waitForBell(readingFrom earliest: ContinuousClock.Instant) -> UInt32 {
    while true {
      let rung = bell.load(ordering: .acquiring)
      let patience = ContinuousClock.now.duration(to: earliest)
      if rung & Bell.sessions.rawValue != 0 || rung != 0 && patience <= .zero {
        // Changes that came too soon stay for the next round.
        let served = patience <= .zero ? rung : Bell.sessions.rawValue
        bell.bitwiseAnd(~served, ordering: .acquiringAndReleasing)
        return served
      }
      let (seconds, attoseconds) = patience.components
      let limit = rung == 0 ? -1 : seconds * 1_000_000_000 + attoseconds / 1_000_000_000
      withUnsafePointer(to: bell) { _ = csystem_futex_wait($0, rung, limit) }
    }
  }

  private func liveSessions() -> [MonitorSession] {
    state.withLock { state in
      state.sessions = state.sessions.filter { $0.value.session != nil }
      return state.sessions.values.compactMap(\.session)
    }
  }

  private func hasNewcomers() -> Bool { state.withLock { !$0.newcomers.isEmpty } }

  // MARK: Reading and delivering

  private func read(into table: inout CollectorTable) {
    let queues = QueueRegistry.queues
    for queue in queues {
      while true {
        let snapshot = queue.takeRecordedChanges(for: recorder, limit: Self.slice)
        table.apply(snapshot)
        if !snapshot.hasMore { break }
      }
    }
    table.keepQueues(Set(queues.map { QueueReport.ID($0.id.rawValue) }))
    table.prune(now: ProcessFacts.now)
  }

  private func deliver(_ table: inout CollectorTable) {
    let (changed, removed) = table.takeChanges()
    let newcomers = state.withLock { state in
      defer { state.newcomers = [] }
      return state.newcomers
    }
    for session in liveSessions() {
      let isNew = newcomers.contains(ObjectIdentifier(session))
      session.deliver(
        changed: isNew ? Set(table.reports.keys) : changed, removed: isNew ? [] : removed,
        isQueueNews: true, from: table)
    }
  }

  // MARK: Commands

  private func carryOutCommands(_ table: CollectorTable) {
    let commands = state.withLock { state in
      defer { state.commands = [] }
      return state.commands
    }
    for (command, session) in commands {
      let outcomes = session.isReadOnly ? denials(of: command) : outcomes(of: command, table)
      session.deliver(CommandResult(command: command, outcomes: outcomes))
    }
  }

  private func denials(of command: MonitorCommand) -> [CommandResult.Outcome] {
    switch command {
    case .cancel(let ids): ids.map { _ in .denied }
    case .setSuspended: [.denied]
    }
  }

  private func outcomes(
    of command: MonitorCommand, _ table: CollectorTable
  ) -> [CommandResult.Outcome] {
    switch command {
    case .cancel(let ids): return ids.map { cancel($0, table) }
    case .setSuspended(let id, let isSuspended):
      guard let queue = Self.queue(id) else { return [.unknown] }
      queue.isSuspended = isSuspended
      return [.requested]
    }
  }

  private func cancel(
    _ id: OperationReport.ID, _ table: CollectorTable
  ) -> CommandResult.Outcome {
    guard let report = table.reports[id] else { return .unknown }
    guard let record = table.records[id], let queue = Self.queue(report.queue),
      let operation = queue.operation(of: record), !operation.isFinished
    else { return .alreadyFinished }
    operation.cancel()
    return .requested
  }

  private static func queue(_ id: QueueReport.ID) -> OperationQueue? {
    QueueRegistry.queues.first { $0.id.rawValue == id.rawValue }
  }
}
