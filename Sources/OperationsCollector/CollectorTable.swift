// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// What a collector knows of the process: used by its thread alone.
///
/// Unfinished operations are all kept. Of the finished ones the newest are, up to a number and an
/// age. A change costs the same however many operations there are.
final class CollectorTable {
  /// How many finished operations are kept, and for how long.
  struct Retention {
    var count = 10_000
    var age: Duration = .seconds(60)
  }

  private struct Finished {
    let id: OperationReport.ID
    let time: MonitorTime
  }

  /// For whom the queues keep the records that this is made from. Another table's are not enough: of
  /// what has not changed since, that would not be told.
  let recorder: RecorderID
  private(set) var entries: [OperationReport.ID: OperationEntry] = [:]
  private(set) var queues: [QueueReport.ID: QueueReport] = [:]
  /// The main queue; `nil` while nobody has asked for it.
  private(set) var mainQueue: QueueReport.ID?
  /// The lists that are kept for the sessions.
  private(set) var lists: [SessionID: SessionList] = [:]
  /// Whether any session wants events: where none does, they cost nothing.
  private var wantsEvents = false
  /// The kinds of warnings that any session wants.
  private(set) var warningKinds: Set<MonitorWarning.Kind> = []
  /// Counts the readings: what has changed since one of them has a later version.
  private(set) var version: UInt64 = 1
  /// For operations that depend on what is not in any queue yet: those that do.
  private var unknownDependencies: [OperationReport.ID: [OperationEntry.Dependent]] = [:]
  /// The operations that change when their queue is suspended or resumed.
  private var ready: [QueueReport.ID: Set<OperationReport.ID>] = [:]
  /// Finished operations, the oldest first, from `finishedStart` on.
  private var finished: [Finished] = []
  private var finishedStart = 0
  /// Operations that run although they were asked to cancel.
  private(set) var cancelling: Set<OperationReport.ID> = []
  /// Operations that very many others depend on.
  private(set) var fanOuts: Set<OperationReport.ID> = []
  var queueConditions = QueueConditions()
  var threadCondition = ThreadCondition()
  var deadlockWatch = DeadlockWatch()
  /// `nil` while no session wants to be told of leaks.
  var leakWatch: LeakWatch?
  var unstartedFinishes = UnstartedFinishes()
  var inversions = PriorityInversions()
  /// The operations that nothing but their own `isReady` holds up.
  var heldUpByThemselves = LastingCondition(patience: CollectorTable.ownReadinessPatience)
  private var classNames: [ObjectIdentifier: String] = [:]
  /// The operations that have started and not finished.
  private(set) var running = RunningOperations()
  /// The runs that have ended.
  private(set) var runLog = RunLog()
  /// How long operations waited and ran.
  private(set) var times = TimeHistograms()
  var classTimes = ClassStatistics()
  /// How many steps operations have taken of which nothing but the number is known.
  private(set) var lostSteps: UInt64 = 0
  var allowance = ReadingAllowance()
  /// The time of the present reading.
  private(set) var readingTime = MonitorTime(nanoseconds: 0)
  private let retention: Retention

  /// Creates a table that knows nothing.
  ///
  /// - Parameters:
  ///   - recorder: Keeps the records. Recording has started, or starts later.
  ///   - retention: Which finished operations are kept.
  init(recorder: RecorderID = RecorderID(), retention: Retention = Retention()) {
    self.recorder = recorder
    self.retention = retention
  }

  /// What is kept of one operation.
  func report(_ id: OperationReport.ID) -> OperationReport? { entries[id]?.report }

  /// Begins a reading.
  func beginReading(at now: MonitorTime = ProcessFacts.now) {
    version += 1
    readingTime = now
  }

  // MARK: Lists

  /// Keeps the list of a session, which is filled step by step by ``SessionList/fill(from:until:)``.
  func keepList(for session: SessionID, _ interest: Interest, at now: MonitorTime) {
    if let list = lists[session] {
      list.change(to: interest, in: self, at: now)
    } else {
      lists[session] = SessionList(interest, in: self, at: now)
    }
    noteInterests()
  }

  /// Drops the lists of the sessions that are not among these.
  func keepLists(of sessions: Set<SessionID>) {
    lists = lists.filter { sessions.contains($0.key) }
    noteInterests()
  }

  private func noteInterests() {
    wantsEvents = lists.values.contains { $0.interest.eventLimit > 0 }
    warningKinds = lists.values.reduce(into: []) { $0.formUnion($1.interest.warningKinds) }
    if !warningKinds.contains(.leaking) {
      leakWatch = nil
    } else if leakWatch == nil {
      leakWatch = LeakWatch()
    }
  }

  /// Changes one operation's report, in the lists as well.
  private func change(_ entry: OperationEntry, _ body: (inout OperationReport) -> Void) {
    let old = entry.report
    body(&entry.report)
    entry.version = version
    for list in lists.values { list.replace(old, by: entry.report, in: self) }
  }

  /// Notes who has asked that an operation be cancelled.
  func noteCancelRequester(_ origin: CommandOrigin, of id: OperationReport.ID) {
    guard let entry = entries[id] else { return }
    // Told to all, also where nothing else changes by it.
    version += 1
    change(entry) { $0.cancelRequester = origin }
  }

  // MARK: News

  /// Takes over what a queue has said.
  func apply(_ snapshot: QueueChanges) {
    let id = QueueReport.ID(snapshot.id.rawValue)
    let old = queues[id]
    if snapshot.isMain { mainQueue = id }
    lostSteps += UInt64(snapshot.lostSteps)
    queues[id] = QueueReport(
      id: id, name: snapshot.name, counts: StateCounts(snapshot),
      width: snapshot.maxConcurrentOperationCount < 0
        ? nil : snapshot.maxConcurrentOperationCount,
      isSuspended: snapshot.isSuspended)
    if let old, old.name != snapshot.name {
      for list in lists.values { list.queueNameDidChange(in: self) }
    }
    for (operation, record) in zip(snapshot.changed, snapshot.records) {
      apply(operation, record, isSuspended: snapshot.isSuspended)
    }
    if old?.isSuspended != snapshot.isSuspended {
      holdReadyOperations(of: id, isSuspended: snapshot.isSuspended)
    }
  }

  /// Forgets queues that no longer exist.
  func keepQueues(_ ids: Set<QueueReport.ID>) {
    let knownCount = queues.count
    queues = queues.filter { ids.contains($0.key) }
    if queues.count < knownCount {
      // Operations are sorted by the name that is gone.
      for list in lists.values { list.queueNameDidChange(in: self) }
    }
    ready = ready.filter { ids.contains($0.key) }
    inversions.keepQueues(ids)
  }

  private func apply(
    _ snapshot: RecordedOperation, _ record: OperationRecord, isSuspended: Bool
  ) {
    let id = OperationReport.ID(snapshot.id.rawValue)
    let entry: OperationEntry
    var old: OperationReport?
    if let known = entries[id] {
      // News of what has been dropped already would bring it back for good.
      if known.report.state.isOver { return }
      entry = known
      if wantsEvents { old = known.report }
    } else {
      entry = addEntry(OperationReport(snapshot, className: name(of: snapshot.type)))
    }
    let wasRunning = entry.report.state == .executing || entry.report.state == .cancelling
    link(entry, as: snapshot)
    change(entry) { $0.take(snapshot, isSuspended: isSuspended, unmetCount: entry.unmetCount) }
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
      finished.append(
        Finished(id: id, time: entry.report.finished ?? MonitorTime(nanoseconds: 0)))
      tellDependents(of: entry)
      return
    }
    entry.record = record
    if entry.report.state == .cancelling, entry.report.started != nil { cancelling.insert(id) }
    if snapshot.state == .executing {
      running.insert(entry.report)
    } else if wasRunning {
      // The worker gave it back because its `isReady` was `false`.
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
    for list in lists.values { list.insert(entry.report, in: self) }
    return entry
  }

  private func holdReadyOperations(of queue: QueueReport.ID, isSuspended: Bool) {
    for id in ready[queue] ?? [] {
      guard let entry = entries[id] else { continue }
      change(entry) { $0.state = isSuspended ? .held : .ready }
    }
  }

  /// The name of a class, which takes longer to find than everything else about an operation.
  private func name(of type: Operation.Type) -> String {
    if let known = classNames[ObjectIdentifier(type)] { return known }
    let name = String(describing: type)
    classNames[ObjectIdentifier(type)] = name
    return name
  }

  // MARK: Dependencies

  /// Notes on which operations an operation has come to depend, and on which it no longer does.
  private func link(_ entry: OperationEntry, as snapshot: RecordedOperation) {
    let old = entry.report.dependencies
    let isSame = old.elementsEqual(snapshot.dependencies) { $0.rawValue == $1.rawValue }
    if isSame { return }
    setUrgent(entry, false)
    let new = snapshot.dependencies.map { OperationReport.ID($0.rawValue) }
    entry.report.dependencies = new
    let oldSet = Set(old)
    // What is not in a queue cannot say itself whether it has finished.
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

  /// - Returns: Whether the dependency was counted as unmet.
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

  private func tellDependents(of entry: OperationEntry) {
    for index in entry.dependents.indices where entry.dependents[index].isUnmet {
      entry.dependents[index].isUnmet = false
      guard let dependent = entries[entry.dependents[index].id] else { continue }
      dependent.unmetCount -= 1
      guard dependent.report.state == .waiting else { continue }
      change(dependent) { $0.unmetDependencyCount = dependent.unmetCount }
    }
  }

  /// What has come to depend on an operation since that was dropped, or before it was known.
  func lateDependents(of id: OperationReport.ID) -> [OperationEntry.Dependent] {
    unknownDependencies[id] ?? []
  }

  // MARK: Retention

  /// The operations that have finished last, the last one first, at most so many.
  func lastFinished(_ limit: Int) -> some Collection<OperationReport.ID> {
    finished[finishedStart...].suffix(limit).reversed().lazy.map(\.id)
  }

  /// Drops finished operations that are too many or too old.
  func prune(now: MonitorTime) {
    while finishedStart < finished.count {
      let oldest = finished[finishedStart]
      let isKept =
        finished.count - finishedStart <= retention.count && now - oldest.time <= retention.age
      if isKept { break }
      finishedStart += 1
      drop(oldest.id)
    }
    if finishedStart > 1_024, finishedStart > finished.count / 2 {
      finished.removeFirst(finishedStart)
      finishedStart = 0
    }
  }

  private func drop(_ id: OperationReport.ID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    fanOuts.remove(id)
    for list in lists.values { list.remove(entry.report, in: self) }
    for dependency in entry.report.dependencies {
      guard let known = entries[dependency] else {
        _ = unlink(entry, from: dependency)
        continue
      }
      // It stays listed until half of the list is like it: taking each out at once would cost the
      // square of a large fan-out.
      change(known) { $0.dependentCount -= 1 }
      if known.report.dependentCount * 2 < known.dependents.count {
        known.dependents.removeAll { entries[$0.id] == nil }
      }
    }
  }
}
