// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol
import OperationsCore
import Synchronization

/// Reads the changes of this process's queues and sends updates to the sessions.
///
/// The collector's thread starts with the first session and ends after the last session. The thread
/// sleeps until a queue has changes or a session has a command. The time between two readings is at
/// least the shortest interval of all sessions. Commands are carried out at once.
final class Collector: Sendable {
  static let shared = Collector()

  /// A reason to wake the collector's thread.
  enum Bell: UInt32 {
    /// A queue has changes. The thread may wait until the interval has passed before it reads them.
    case changes = 1
    /// A session was opened, was closed or has a command. The thread must handle it at once.
    case sessions = 2
    /// An operation has logged a line that a session sends. The thread may wait as for `changes`.
    case logs = 4
  }

  /// The records that the queues store for one `CollectorTable`, the data about all operations.
  private struct KeptRecords {
    let collector = CollectorID()
    /// The time from which on all queues store records for this `CollectorTable`.
    let start: MonitorTime

    /// Makes all queues of the process store records about their operations.
    init() {
      QueueRegistry.keepRecords(for: collector, newRecords: ReadingAllowance.newRecords) {
        Collector.shared.ring(.changes)
      }
      start = MonitorTime.now
    }

    /// Creates the `CollectorTable` that collects the records from now on.
    func makeTable() -> CollectorTable {
      let table = CollectorTable(collector: collector)
      table.unstartedFinishes.beginWatching(at: start)
      return table
    }
  }

  private struct WeakSession {
    weak var session: MonitorSession?
  }

  private struct State {
    var sessions: [SessionID: WeakSession] = [:]
    var commands: [(command: MonitorCommand, session: MonitorSession)] = []
    var isRunning = false
    /// The number of the collector's thread; 0 before the thread has started for the first time.
    var thread: UInt64 = 0
    /// The records for the first `CollectorTable`; `nil` after the thread has created that table.
    var keptRecords: KeptRecords?
  }

  /// The maximum number of operations that the collector reads while it holds a queue's lock.
  /// Reading them takes about ten microseconds.
  static let slice = 1_024
  /// The maximum duration of a reading of the queues. After a reading, viewers receive updates.
  private static let readingSlice = Duration.milliseconds(50)
  /// The shortest time between two readings of the queues, even if viewers change their requests.
  private static let shortestInterval = Duration.milliseconds(10)
  /// The longest time between two readings of the queues, even if all viewers want fewer updates.
  private static let longestInterval = Duration.seconds(1)
  /// The maximum time for filling one list of operations before the collector checks for commands.
  private static let fillingSlice = Duration.milliseconds(2)
  /// The maximum time for the reading of the queues before the last update of a session, and the
  /// maximum time for filling the sessions' lists after it.
  private static let lastReadingSlice = Duration.milliseconds(200)

  private let state = Locked(State())
  private let bell = Atomic<UInt32>(0)

  /// Whether the calling thread is the collector's thread.
  var isOnThread: Bool { state.withLock { $0.thread } == csystem_thread_number() }

  // MARK: Sessions

  func attach(_ session: MonitorSession) {
    let mustStart = state.withLock { state in
      state.sessions[session.id] = WeakSession(session: session)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() } else { ring(.sessions) }
  }

  func detach(_ session: SessionID) {
    state.withLock { $0.sessions[session] = nil }
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

  /// Makes the queues store records and then starts the thread, so that no change after the opening
  /// of a session is missed.
  private func start() {
    let keptRecords = KeptRecords()
    state.withLock { $0.keptRecords = keptRecords }
    // The thread does not retain the collector, because the shared collector is never destroyed.
    let error = csystem_start_thread(
      { Unmanaged<Collector>.fromOpaque($0).takeUnretainedValue().main() },
      Unmanaged.passUnretained(self).toOpaque())
    guard error != 0 else { return }
    QueueRegistry.dropRecords(of: keptRecords.collector)
    state.withLock { $0.isRunning = false }
  }

  private func main() {
    csystem_set_thread_name("opq-collector")
    state.withLock { $0.thread = csystem_thread_number() }
    var table = (state.withLock { $0.keptRecords.take() } ?? KeptRecords()).makeTable()
    var lastRead = ContinuousClock.now - .seconds(1)
    // Whether a viewer has requested other data and has not received an update since that request.
    var isAsked = false
    // A time: the viewers have received all warnings that were due until then.
    var lastReportTime = MonitorTime.now
    while let interval = shortestInterval(&table) {
      let nextWarning = table.nextWarning(after: lastReportTime, of: table.warningKinds)
      let work = nextWork(table, warning: nextWarning)
      let answer = isAsked ? lastRead + Self.shortestInterval : nil
      // The next reading removes these queues.
      if table.hasReportedDepartedQueues { ring(.changes) }
      let reasons = waitForBell(
        readingFrom: lastRead + interval, workingFrom: [work, answer].compactMap { $0 }.min())
      if serveSessions(table) { isAsked = true }
      awaitLogs(for: table)
      deliverLastUpdates(of: table)
      var hasNews = false
      var readingTime = Duration.zero
      // If a warning is due, the collector first reads all earlier changes of the queues, even if
      // its last reading was a short time ago. A viewer that has requested other data also receives
      // the present state.
      let isDue = nextWarning.map { $0 <= MonitorTime.now } ?? false
      let mayAnswer = isAsked && .now - lastRead >= Self.shortestInterval
      if mayAnswer { (isAsked, hasNews) = (false, true) }
      if reasons & Bell.changes.rawValue != 0 || (isDue || mayAnswer) && takeChanges() {
        lastRead = .now
        read(into: table)
        readingTime = lastRead.duration(to: .now)
        table.deadlockWatch.noteChange(at: MonitorTime.now)
        hasNews = true
      }
      if fillLists(of: table, for: readingTime) { hasNews = true }
      if hasNews || isDue { table.noteQueueConditions(at: MonitorTime.now) }
      if table.searchDeadlocksIfDue(at: MonitorTime.now) { hasNews = true }
      if table.lookForLeaksIfDue(at: MonitorTime.now) { hasNews = true }
      let nextReportTime = table.lists.values.flatMap { [$0.nextComputation, $0.nextReportTime] }
        .compactMap { $0 }.min()
      if isDue || nextReportTime.map({ $0 <= MonitorTime.now }) == true { hasNews = true }
      if reasons & Bell.logs.rawValue != 0 { OperationLogStore.shared.look() }
      let nextLogTime = table.lists.values.compactMap(\.nextLogTime).min()
      let hasLogs =
        reasons & Bell.logs.rawValue != 0 || nextLogTime.map { $0 <= MonitorTime.now } == true
      if hasLogs { lastRead = .now }
      guard hasNews || hasLogs else { continue }
      if hasNews { lastReportTime = MonitorTime.now }
      deliver(table, hasOnlyLogs: !hasNews)
    }
  }

  /// Clears the signal that queues have changes.
  ///
  /// - Returns: Whether the signal was set.
  private func takeChanges() -> Bool {
    let changes = Bell.changes.rawValue
    return bell.bitwiseAnd(~changes, ordering: .acquiringAndReleasing).oldValue & changes != 0
  }

  /// Returns the shortest interval of all sessions. If no session is left, stops recording and
  /// returns `nil`.
  private func shortestInterval(_ table: inout CollectorTable) -> Duration? {
    let sessions = liveSessions()
    if let shortest = sessions.map(\.minimumInterval).min() {
      // If a session exists, the queues keep the unread records until the next reading.
      return min(shortest, Self.longestInterval)
    }
    // Commands of sessions that have already ended are also carried out.
    carryOutCommands(table)
    QueueRegistry.dropRecords(of: table.collector)
    OperationLogStore.shared.wake(for: nil) {}
    let isOver = state.withLock { state in
      state.isRunning = !state.sessions.isEmpty || !state.commands.isEmpty
      return !state.isRunning
    }
    if isOver { return nil }
    // A session was opened while the queues dropped their records. The old table does not contain
    // the changes that were dropped, so a new table is created.
    table = KeptRecords().makeTable()
    return .zero
  }

  /// Puts the collector's thread to sleep until it can handle a signal (a queue has changes, or a
  /// session was opened, was closed or has a command), or until it has other work. Returns the
  /// signals to handle.
  private func waitForBell(
    readingFrom earliest: ContinuousClock.Instant, workingFrom work: ContinuousClock.Instant?
  ) -> UInt32 {
    while true {
      let rung = bell.load(ordering: .acquiring)
      let now = ContinuousClock.now
      let mayRead = now >= earliest
      if rung & Bell.sessions.rawValue != 0 || rung != 0 && mayRead {
        // If it is too early to read the changes of the queues, the signal for these changes stays
        // set for the next round.
        let served = mayRead ? rung : Bell.sessions.rawValue
        bell.bitwiseAnd(~served, ordering: .acquiringAndReleasing)
        return served
      }
      if let work, work <= now { return 0 }
      let moments = [rung == 0 ? nil : earliest, work].compactMap { $0 }
      let limit = moments.min().map { max(0, now.duration(to: $0).saturatedNanoseconds) } ?? -1
      withUnsafePointer(to: bell) { _ = csystem_futex_wait($0, rung, limit) }
    }
  }

  /// Returns the next time at which the collector's thread has work even if no signal is set: the
  /// operation list of a session must be updated, or a warning is due.
  private func nextWork(
    _ table: CollectorTable, warning: MonitorTime?
  ) -> ContinuousClock.Instant? {
    if table.isFilling { return .now }
    let moments =
      table.lists.values.flatMap {
        [$0.nextRefresh, $0.nextRecount, $0.nextComputation, $0.nextReportTime, $0.nextLogTime]
      }
      + [warning, table.nextDeadlockSearch, table.leakWatch?.nextRound]
    let now = MonitorTime.now
    return moments.compactMap { $0 }.min().map { .now + ($0 - now) }
  }

  private func liveSessions() -> [MonitorSession] {
    // The references to the sessions are released outside the lock, because releasing the last
    // reference to a session detaches the session, and that acquires the lock.
    state.withLock { $0.sessions.values.compactMap(\.session) }
  }

  // MARK: Reading and delivering

  /// Reads the changes of the queues for a limited time. The next round reads the remaining
  /// changes. Therefore viewers see a million new operations step by step.
  ///
  /// - Returns: Whether no changes remain.
  @discardableResult
  private func read(into table: CollectorTable) -> Bool {
    var isComplete = true
    table.beginReading()
    table.allowance.begin()
    let (queues, departed) = QueueRegistry.takeQueues()
    let deadline = ContinuousClock.now + Self.readingSlice
    // Each round begins with another queue, so that a queue with constant changes does not keep the
    // collector from reading the other queues.
    let start = queues.isEmpty ? 0 : Int(table.version % UInt64(queues.count))
    for queue in queues[start...] + queues[..<start] {
      var part = table.allowance.part(of: queue.id)
      let id = QueueReport.ID(queue.id.rawValue)
      let readyLimit = table.readyLimit(of: id)
      var hasOrder = readyLimit == 0
      while true {
        let changes = queue.takeChanges(
          for: table.collector, limit: Self.slice, adopting: part.adopting,
          newRecords: part.newRecords, readyLimit: readyLimit)
        table.apply(changes)
        part = table.allowance.next(part, after: changes)
        hasOrder = hasOrder || changes.readyOrder != nil
        // A command is carried out during the reading of the queues, and does not wait for the end
        // of the reading.
        if bell.load(ordering: .relaxed) & Bell.sessions.rawValue != 0 { carryOutCommands(table) }
        guard changes.hasMore || changes.hasUnrecorded else { break }
        let isEnough = !changes.hasMore && part.adopting == 0
        if isEnough || ContinuousClock.now >= deadline { isComplete = false }
        if isEnough || ContinuousClock.now >= deadline {
          ring(.changes)
          break
        }
      }
      if !hasOrder { table.take(queue.readyOrder(limit: readyLimit), of: id) }
    }
    table.isFirstReading = false
    let departing = table.applyLastChanges(of: departed)
    table.keepQueues(departing.union(queues.map { QueueReport.ID($0.id.rawValue) }))
    table.prune(now: MonitorTime.now)
    table.endReading(of: queues)
    return isComplete
  }

  /// Makes the last updates of the sessions that have requested them. The collector first reads all
  /// changes of the queues.
  private func deliverLastUpdates(of table: CollectorTable) {
    let sessions = liveSessions().filter(\.needsLastUpdate)
    guard !sessions.isEmpty else { return }
    let deadline = ContinuousClock.now + Self.lastReadingSlice
    while !read(into: table), ContinuousClock.now < deadline {}
    table.noteQueueConditions(at: MonitorTime.now)
    let fillingEnd = ContinuousClock.now + Self.lastReadingSlice
    while table.isFilling, ContinuousClock.now < fillingEnd { _ = fillLists(of: table) }
    for session in sessions {
      guard let list = table.lists[session.id] else { continue }
      session.deliver(list.takeUpdate(from: table, isLast: true), isLast: true)
    }
  }

  /// Carries out the commands of sessions and applies their requests for other data.
  ///
  /// - Returns: Whether a session has requested other data and needs an update.
  private func serveSessions(_ table: CollectorTable) -> Bool {
    carryOutCommands(table)
    let sessions = liveSessions()
    table.keepLists(of: Set(sessions.map(\.id)))
    table.retention =
      sessions.contains(where: \.keepsFinishedOperations) ? .lasting : .init()
    var hasNews = false
    for session in sessions {
      guard let interest = session.takeNewInterest() else { continue }
      table.keepList(for: session.id, interest, at: MonitorTime.now)
      hasNews = true
    }
    if hasNews, table.lacksReadyOrders { ring(.changes) }
    return hasNews
  }

  /// Adds operations to the incomplete or outdated lists of the sessions, until a time has passed or a session has a
  /// command.
  ///
  /// - Parameters:
  ///   - table: The table with the lists.
  ///   - time: The time that the reading of the queues has just taken. Therefore lists are filled at half speed, and not
  ///     much slower, while the queues have constant changes.
  /// - Returns: Whether a list has changed.
  private func fillLists(of table: CollectorTable, for time: Duration = .zero) -> Bool {
    let now = MonitorTime.now
    for list in table.lists.values { list.refreshIfDue(from: table, at: now) }
    let unfinished = table.lists.values.filter(\.isFilling)
    let end = ContinuousClock.now + time
    var hasNews = false
    repeat {
      for list in unfinished where list.isFilling {
        if list.fill(from: table, until: .now + Self.fillingSlice) { hasNews = true }
      }
      if table.fillSearchTexts(until: .now + Self.fillingSlice) { hasNews = true }
    } while table.isFilling && ContinuousClock.now < end
      && bell.load(ordering: .relaxed) & Bell.sessions.rawValue == 0
    return hasNews
  }

  /// Makes the log store wake the collector's thread for the lines that the sessions send.
  private func awaitLogs(for table: CollectorTable) {
    let selections = table.lists.values.compactMap(\.logSelection)
    let selection = selections.dropFirst().reduce(selections.first) { $0?.union($1) }
    OperationLogStore.shared.wake(for: selection) { Collector.shared.ring(.logs) }
  }

  /// Sends updates to the sessions. If log lines are the only news, only sessions that send some of
  /// them get an update.
  private func deliver(_ table: CollectorTable, hasOnlyLogs: Bool) {
    for session in liveSessions() {
      guard let list = table.lists[session.id], !hasOnlyLogs || list.hasNewLogs else { continue }
      let now = MonitorTime.now
      guard
        list.mayReport(
          at: now, interval: session.minimumInterval, hasOnlyLogs: hasOnlyLogs)
      else { continue }
      if session.takesUpdate(at: now) {
        session.deliver(list.takeUpdate(from: table))
      } else {
        list.postpone()
      }
    }
  }

  // MARK: Commands

  /// Removes and returns the commands that were not carried out yet.
  func takeCommands() -> [(command: MonitorCommand, session: MonitorSession)] {
    state.withLock { state in
      defer { state.commands = [] }
      return state.commands
    }
  }
}
