// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The collector's data about the operations and queues of the process. Only the collector's thread
/// uses it.
///
/// The table keeps all unfinished operations. It also keeps finished operations, up to a maximum number
/// and age. The cost of a change does not depend on the number of operations.
final class CollectorTable {
  /// The id under which the queues store records for this table. Each table needs a new id. For the
  /// id of an older table, the queues would not return the operations that have not changed since
  /// the older table read the queues.
  let collector: CollectorID
  private(set) var entries: [OperationReport.ID: OperationEntry] = [:]
  var queues: [QueueReport.ID: QueueReport] = [:]
  /// The id of the main queue; `nil` until the program uses the main queue.
  private(set) var mainQueue: QueueReport.ID?
  /// For each session, the list of the operations that the session sends to its viewer.
  private(set) var lists: [SessionID: SessionList] = [:]
  /// Whether any session requests events. If no session does, events cost nothing.
  private var wantsEvents = false
  /// The kinds of warnings that any session requests.
  private(set) var warningKinds: Set<MonitorWarning.Kind> = []
  /// The texts of all operations for searches; `nil` if no session searches.
  private(set) var searchTexts: SearchTexts?
  /// The sequence number of the current reading of the queues. Each reading increases it.
  private(set) var version: UInt64 = 1
  /// For each operation that is not in the table, the known operations that depend on it. The key
  /// is the id of the missing operation.
  private(set) var unknownDependencies: [OperationReport.ID: [OperationEntry.Dependent]] = [:]
  /// The ready and held operations of each queue. Their state changes when the queue is suspended
  /// or resumed.
  var ready: [QueueReport.ID: Set<OperationReport.ID>] = [:]
  private var finished = FinishedOperations()
  /// The operations that execute although they were asked to cancel.
  private(set) var cancelling: Set<OperationReport.ID> = []
  /// The operations with more than ``dependentLimit`` dependents.
  private(set) var fanOuts: Set<OperationReport.ID> = []
  var queueConditions = QueueConditions()
  var threadCondition = ThreadCondition()
  var deadlockWatch = DeadlockWatch()
  /// The search for leaked operations; `nil` while no session requests warnings about leaks.
  var leakWatch: LeakWatch?
  var unstartedFinishes = UnstartedFinishes()
  var inversions = PriorityInversions()
  /// The queues that no longer exist, and that a session has not reported.
  var departedQueues = DepartedQueues()
  /// The operations that do not start only because their own `isReady` is `false`.
  var heldUpByThemselves = LastingCondition(patience: CollectorTable.ownReadinessPatience)
  private var classNames: [ObjectIdentifier: String] = [:]
  /// The number of finished and cancelled operations that the table keeps.
  var keptFinishedCount: Int { finished.count }

  /// The operations that have started and have not finished.
  private(set) var running = RunningOperations()
  /// The executions of operations that have ended.
  private(set) var runLog = RunLog()
  /// The recent slot waits and run times of operations.
  private(set) var times = TimeHistograms()
  var kindTimes = KindStatistics()
  /// The number of operations of each queue that have ended.
  var endedCounts = EndedCounts()
  /// The order of the ready operations of each queue for which a session requests it.
  var readyOrders: [QueueReport.ID: ReadyOrder] = [:]
  /// The queues whose orders are sent to viewers that request the orders of all queues.
  var orderedQueues: Set<QueueReport.ID> = []
  /// The number of queues with ready operations, according to their last reports.
  var readyQueueCount = 0
  /// The number of state changes that the queues have counted but not recorded since the first reading of the
  /// queues.
  private(set) var lostSteps: UInt64 = 0
  /// Whether the first reading of the queues has not ended yet.
  var isFirstReading = true
  var allowance = ReadingAllowance()
  /// The time of the current reading of the queues.
  private(set) var readingTime = MonitorTime(nanoseconds: 0)
  /// The finished operations to keep.
  var retention: FinishedOperations.Retention

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - collector: The id under which the queues store records for this table.
  ///   - retention: The finished operations to keep.
  init(
    collector: CollectorID = CollectorID(),
    retention: FinishedOperations.Retention = FinishedOperations.Retention()
  ) {
    self.collector = collector
    self.retention = retention
  }

  /// Returns the report of the operation with this id.
  func report(_ id: OperationReport.ID) -> OperationReport? { entries[id]?.report }

  /// Begins a reading of the queues.
  func beginReading(at now: MonitorTime = MonitorTime.now) {
    version += 1
    readingTime = now
  }

  // MARK: Lists

  /// Creates or changes the list of a session. ``SessionList/fill(from:until:)`` then fills the list step by step.
  func keepList(for session: SessionID, _ interest: Interest, at now: MonitorTime) {
    if let list = lists[session] {
      list.change(to: interest, in: self, at: now)
    } else {
      lists[session] = SessionList(interest, in: self, at: now)
    }
    noteInterests()
  }

  /// Removes the lists of all sessions except the given sessions.
  func keepLists(of sessions: Set<SessionID>) {
    guard !lists.keys.allSatisfy(sessions.contains) else { return }
    lists = lists.filter { sessions.contains($0.key) }
    noteInterests()
  }

  /// Whether the list of a session or the texts for searches are incomplete.
  var isFilling: Bool {
    searchTexts?.isFilling == true || lists.values.contains(where: \.isFilling)
  }

  /// Collects missing texts for searches until a time is reached.
  ///
  /// - Returns: Whether the last missing texts were collected.
  func fillSearchTexts(until deadline: ContinuousClock.Instant) -> Bool {
    if searchTexts?.isWasteful == true { searchTexts = SearchTexts(of: Array(entries.keys)) }
    guard searchTexts?.isFilling == true else { return false }
    searchTexts?.fill(until: deadline) { self.entries[$0]?.report }
    return searchTexts?.isFilling == false
  }

  /// Removes the statistics of queues that no longer exist.
  func removeQueueHistories(except ids: Set<QueueReport.ID>) {
    running.keepQueues(ids)
    times.keepQueues(ids)
  }

  private func noteInterests() {
    chooseOrderedQueues()
    wantsEvents = lists.values.contains { $0.interest.eventLimit > 0 }
    let wantsQueueTimes = lists.values.contains {
      $0.interest.queueTimes || $0.interest.groups?.by == .queue
    }
    times.keepQueues(wantsQueueTimes) {
      // The earlier statistics of queues are no longer valid.
      kindTimes = KindStatistics()
      return finished.last(.max).reversed().compactMap { report($0) }
    }
    if !lists.values.contains(where: { $0.interest.search != nil }) {
      searchTexts = nil
    } else if searchTexts == nil {
      searchTexts = SearchTexts(of: Array(entries.keys))
    }
    warningKinds = lists.values.reduce(into: []) { $0.formUnion($1.interest.warningKinds) }
    if !warningKinds.contains(.leaking) {
      leakWatch = nil
    } else if leakWatch == nil {
      leakWatch = LeakWatch()
    }
  }

  /// Changes the report of one operation, and updates the lists of the sessions.
  private func change(_ entry: OperationEntry, _ body: (inout OperationReport) -> Void) {
    let old = entry.report
    body(&entry.report)
    entry.version = version
    if searchTexts != nil, !entry.report.hasTexts(of: old) { searchTexts?.rename(entry.report) }
    for list in lists.values { list.replace(old, by: entry.report, in: self) }
  }

  /// Stores the viewer that has sent a cancel command for an operation.
  func noteCancelRequester(_ origin: CommandOrigin, of id: OperationReport.ID) {
    guard let entry = entries[id] else { return }
    // The version number is increased so that all sessions send the change to their viewers, even
    // if nothing else changes.
    version += 1
    change(entry) { $0.cancelRequester = origin }
  }

  // MARK: Changes

  /// Applies the changes of operations that a queue has recorded to this table.
  func apply(_ snapshot: QueueChanges) {
    let id = QueueReport.ID(snapshot.id.rawValue)
    let old = queues[id]
    if snapshot.isMain { mainQueue = id }
    // The first reading creates the records of the operations that were added before the recording began.
    // Earlier changes of these operations are not a part of the history, so they do not count.
    if !isFirstReading { lostSteps += UInt64(snapshot.lostSteps) }
    let report = QueueReport(snapshot)
    queues[id] = report
    endedCounts.note(report, isFirstReading: isFirstReading)
    readyQueueCount += (report.counts.ready > 0 ? 1 : 0) - (old?.counts.ready ?? 0 > 0 ? 1 : 0)
    queueConditions.noteStartLimit(of: id, isReached: snapshot.isStartLimitReached)
    take(snapshot.readyOrder, of: id)
    if let old, old.name != snapshot.name {
      for list in lists.values { list.queueNameDidChange(in: self) }
    }
    let errors = snapshot.errorTexts
    for (index, operation) in snapshot.changed.enumerated() {
      let record = snapshot.records[index]
      apply(operation, record, errors[index], isSuspended: snapshot.isSuspended)
    }
    if old?.isSuspended != snapshot.isSuspended {
      holdReadyOperations(of: id, isSuspended: snapshot.isSuspended)
    }
  }

  private func apply(
    _ snapshot: RecordedOperation, _ record: OperationRecord, _ error: String?, isSuspended: Bool
  ) {
    let id = OperationReport.ID(snapshot.id.rawValue)
    let entry: OperationEntry
    var old: OperationReport?
    if let known = entries[id] {
      // The report of a finished operation stays unchanged. Otherwise, if the table had already removed the
      // finished operation, a later change would add the operation again, and the table would never remove it.
      if known.report.state.isOver { return }
      entry = known
      if wantsEvents { old = known.report }
    } else {
      entry = addEntry(OperationReport(snapshot, className: name(of: snapshot.type)))
    }
    let wasRunning = entry.report.state == .executing || entry.report.state == .cancelling
    link(entry, as: snapshot)
    change(entry) {
      $0.take(snapshot, error, isSuspended: isSuspended, unmetCount: entry.unmetCount)
    }
    notePriority(of: entry)
    if wantsEvents {
      for list in lists.values { list.noteSteps(from: old, to: entry.report, in: self) }
    }
    if snapshot.isHeldUpByItself, entry.report.state == .waiting {
      heldUpByThemselves.insert(id, at: readingTime)
    } else {
      heldUpByThemselves.remove(id)
    }
    if entry.report.state.isOver {
      ready[entry.report.queue]?.remove(id)
      cancelling.remove(id)
      entry.record = nil
      running.remove(id)
      runLog.note(entry.report)
      times.note(entry.report)
      unstartedFinishes.note(entry.report)
      leakWatch?.note(entry, record)
      finished.insert(entry.report)
      notifyDependents(of: entry)
      return
    }
    entry.record = record
    if entry.report.state == .cancelling, entry.report.started != nil { cancelling.insert(id) }
    if snapshot.state == .executing {
      running.insert(entry.report)
    } else if wasRunning {
      // The worker returned the operation to its queue because the operation's `isReady` was
      // `false`.
      running.remove(id)
    }
    if entry.report.state == .ready || entry.report.state == .held {
      ready[entry.report.queue, default: []].insert(id)
    } else {
      ready[entry.report.queue]?.remove(id)
    }
  }

  private func addEntry(_ report: OperationReport) -> OperationEntry {
    let entry = OperationEntry(report, version: version)
    entry.dependents = unknownDependencies.removeValue(forKey: report.id) ?? []
    entry.report.dependentCount = entry.dependents.count
    entry.urgentDependentCount = Int32(
      entry.dependents.count { entries[$0.id]?.isUrgent == true })
    entries[report.id] = entry
    searchTexts?.insert(entry.report)
    for list in lists.values { list.insert(entry.report, in: self) }
    return entry
  }

  private func holdReadyOperations(of queue: QueueReport.ID, isSuspended: Bool) {
    for id in ready[queue] ?? [] {
      guard let entry = entries[id] else { continue }
      change(entry) { $0.state = isSuspended ? .held : .ready }
    }
  }

  /// Returns the name of a class. The name is computed only once, because this takes longer than
  /// all other work for an operation.
  private func name(of type: Operation.Type) -> String {
    if let known = classNames[ObjectIdentifier(type)] { return known }
    let name = String(describing: type)
    classNames[ObjectIdentifier(type)] = name
    return name
  }

  // MARK: Dependencies

  /// Updates the dependencies of an operation, and the dependents of these dependencies.
  private func link(_ entry: OperationEntry, as snapshot: RecordedOperation) {
    let old = entry.report.dependencies
    let isSame = old.elementsEqual(snapshot.dependencies) { $0.rawValue == $1.rawValue }
    if isSame { return }
    setUrgent(entry, false)
    let new = snapshot.dependencies.map { OperationReport.ID($0.rawValue) }
    entry.report.dependencies = new
    let oldSet = Set(old)
    // An operation that is not in a queue cannot report that it has finished.
    let unmet = Set(snapshot.unmetDependencies.lazy.map { OperationReport.ID($0.rawValue) })
    for dependency in new where !oldSet.contains(dependency) {
      let known = entries[dependency]
      let isUnmet = known.map { !$0.report.state.isOver } ?? unmet.contains(dependency)
      if isUnmet { entry.unmetCount += 1 }
      let dependent = OperationEntry.Dependent(id: entry.report.id, isUnmet: isUnmet)
      guard let known else {
        unknownDependencies[dependency, default: []].append(dependent)
        continue
      }
      known.dependents.append(dependent)
      change(known) { $0.dependentCount += 1 }
      if known.report.dependentCount > Self.dependentLimit { fanOuts.insert(dependency) }
    }
    guard !old.isEmpty else { return }
    let newSet = Set(new)
    for dependency in old where !newSet.contains(dependency) {
      if unlink(entry, from: dependency) { entry.unmetCount -= 1 }
    }
  }

  /// Removes an operation from the list of dependents of one of its former dependencies.
  ///
  /// - Returns: Whether the dependency was counted as unfinished.
  private func unlink(_ entry: OperationEntry, from dependency: OperationReport.ID) -> Bool {
    let id = entry.report.id
    if let known = entries[dependency] {
      guard let index = known.dependents.firstIndex(where: { $0.id == id }) else { return false }
      let wasUnmet = known.dependents.remove(at: index).isUnmet
      change(known) { $0.dependentCount -= 1 }
      return wasUnmet
    }
    guard let index = unknownDependencies[dependency]?.firstIndex(where: { $0.id == id }) else {
      return false
    }
    let wasUnmet = unknownDependencies[dependency]?.remove(at: index).isUnmet == true
    if unknownDependencies[dependency]?.isEmpty == true { unknownDependencies[dependency] = nil }
    return wasUnmet
  }

  private func notifyDependents(of entry: OperationEntry) {
    for index in entry.dependents.indices where entry.dependents[index].isUnmet {
      entry.dependents[index].isUnmet = false
      guard let dependent = entries[entry.dependents[index].id] else { continue }
      dependent.unmetCount -= 1
      guard dependent.report.state == .waiting else { continue }
      change(dependent) { $0.unmetDependencyCount = dependent.unmetCount }
    }
  }

  // MARK: Retention

  /// Returns the last finished operations, the newest first, up to a limit.
  func lastFinished(_ limit: Int) -> some Collection<OperationReport.ID> {
    finished.last(limit)
  }

  /// Removes finished operations that exceed the maximum number or the maximum age.
  func prune(now: MonitorTime) {
    while let id = finished.removeExpired(retention, at: now) { drop(id) }
  }

  private func drop(_ id: OperationReport.ID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    searchTexts?.remove(id)
    fanOuts.remove(id)
    for list in lists.values { list.remove(entry.report, in: self) }
    for dependency in entry.report.dependencies {
      guard let known = entries[dependency] else {
        _ = unlink(entry, from: dependency)
        continue
      }
      // The removed dependent stays in the list until half of the list is outdated. Removing each
      // dependent at once would cost quadratic time for an operation with very many dependents.
      change(known) { $0.dependentCount -= 1 }
      if known.report.dependentCount * 2 < known.dependents.count {
        known.dependents.removeAll { entries[$0.id] == nil }
      }
    }
  }
}
