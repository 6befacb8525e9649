// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Synchronization

/// A source of messages for a viewer, which imitates a process without changes. Every name in the
/// messages comes from a file.
final class ScriptedSource: MonitorSource {
  private static let queueCount = 3

  private let names: [String]
  private let trapsAtCommands: Bool
  private let ring: @Sendable () -> Void
  private let hello: Hello
  private let waiting: Mutex<[MonitorMessage]>

  init(names: [String], trapsAtCommands: Bool, ring: @escaping @Sendable () -> Void) {
    self.names = names
    self.trapsAtCommands = trapsAtCommands
    self.ring = ring
    hello = Hello(
      processName: names[0], processID: 4711, isReadOnly: false, anchor: .now,
      anchorSecondsSince1970: 1_700_000_000, processStarted: .now - .seconds(18_010))
    waiting = Mutex([])
    waiting.withLock { $0 = [.hello(hello), .update(update(for: Interest()))] }
  }

  func takeMessages() -> [MonitorMessage] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }

  func watch(_ interest: Interest) {
    add(.update(update(for: interest)))
  }

  func send(_ command: MonitorCommand) {
    if trapsAtCommands { preconditionFailure("made to trap") }
    let outcomes = Array(
      repeating: CommandResult.Outcome.requested, count: command.outcomeCount)
    add(.commandResult(CommandResult(command: command, outcomes: outcomes)))
  }

  func invalidate() {}

  /// Sends the last message, which reports that the process has ended.
  func end(reason: String) { add(.ended(reason: reason)) }

  private func add(_ message: MonitorMessage) {
    waiting.withLock { $0.append(message) }
    ring()
  }

  /// Returns the name at an index. Indices beyond the last name start again at the first name.
  private func name(_ index: Int) -> String { names[index % names.count] }

  private func queueID(_ index: Int) -> QueueReport.ID {
    QueueReport.ID(UInt64(index % Self.queueCount) + 1)
  }

  /// The reports of the operations, one for each name. The first operation waits for all others,
  /// and the second one is being cancelled. The others execute.
  private var operations: [OperationReport] {
    let ids = names.indices.map { OperationReport.ID(UInt64($0) + 101) }
    return names.indices.map { index in
      OperationReport(
        id: ids[index], name: names[index], className: name(index + 1), queue: queueID(index),
        state: index == 0 ? .waiting : index == 1 ? .cancelling : .executing,
        dependencies: index == 0 ? Array(ids.dropFirst()) : [],
        unmetDependencyCount: index == 0 ? ids.count - 1 : 0, dependentCount: index == 0 ? 0 : 1)
    }
  }

  private var queues: [QueueReport] {
    (0..<Self.queueCount).map { number in
      let own = operations.filter { $0.queue == queueID(number) }
      let waiting = own.count { $0.state == .waiting }
      let cancelling = own.count { $0.state == .cancelling }
      return QueueReport(
        id: queueID(number), name: name(number),
        counts: StateCounts(
          waiting: waiting, executing: own.count - waiting, cancelling: cancelling,
          total: own.count), width: 2)
    }
  }

  /// The runs of the operations, and an earlier run in each slot.
  private var runs: [OperationRun] {
    func run(_ report: OperationReport, isEarlier: Bool) -> OperationRun {
      OperationRun(
        id: OperationReport.ID(report.id.rawValue + (isEarlier ? 1_000 : 0)), title: report.name,
        queue: report.queue, state: isEarlier ? .finished : .executing,
        started: hello.anchor - .seconds(isEarlier ? 2 : 0),
        finished: isEarlier ? hello.anchor - .seconds(1) : nil, kind: report.kind)
    }
    return operations.map { run($0, isEarlier: true) }
      + operations.map { run($0, isEarlier: false) }
  }

  /// Returns the groups of the operations. Their counts are imaginary and all different, so that the order of the groups
  /// does not depend on the names. A number in each kind makes it different from all others.
  private func groups(by: OperationGroups.By) -> OperationGroups {
    let keys: [OperationGroups.Key] =
      by == .kind ? operations.map { .kind("\($0.kind) \($0.id)") } : queues.map { .queue($0.id) }
    return OperationGroups(
      by: by,
      groups: keys.enumerated().map { index, key in
        let count = 900 - index
        return OperationGroups.Group(key: key, counts: StateCounts(executing: count, total: count))
      })
  }

  /// Returns the operations of a queue that execute, and the waiting ones as if they were ready.
  private func runOrder(of queue: QueueReport.ID) -> RunOrder {
    let own = operations.filter { $0.queue == queue }
    return RunOrder(
      queue: queue, executing: own.filter { $0.state != .waiting }.map(\.id),
      ready: own.filter { $0.state == .waiting }.map(\.id))
  }

  private func update(for interest: Interest) -> Update {
    let operations = operations
    var update = Update(
      time: hello.anchor, queues: queues, changed: operations, matchCount: operations.count,
      keptCount: operations.count)
    let ids = operations.map(\.id)
    update.warnings = [
      MonitorWarning(kind: .cycle, operations: ids, title: name(0), count: 3),
      MonitorWarning(
        kind: .neverEnqueuedDependency, operations: ids, title: name(1),
        awaited: [OperationReport.ID(99)], awaitedTitle: name(2), count: 1),
      MonitorWarning(kind: .suspendedWithReady, queue: queueID(1), count: 2),
      MonitorWarning(kind: .finishedWithoutStart, operations: ids, title: name(3), count: 1),
    ].filter { interest.warningKinds.contains($0.kind) }
    if interest.rootLimit > 0 { update.rootCount = 1 }
    if !interest.subjects.isEmpty {
      update.dependents = Dependents(subjects: interest.subjects)
    }
    if interest.eventLimit > 0 {
      let events = operations.map {
        OperationEvent(
          time: hello.anchor, operation: $0.id, title: $0.name, queue: $0.queue, old: .ready,
          new: .executing)
      }
      update.events = EventNews(events: events, isBeginning: true)
    }
    if interest.timeline != nil {
      let runs = runs
      update.runs = RecentRuns(runs: runs, count: runs.count)
    }
    update.groups = interest.groups.map { groups(by: $0.by) }
    update.runOrders =
      interest.runOrder.map {
        $0.queues.map(runOrder).sorted { $0.queue.rawValue < $1.queue.rawValue }
      } ?? []
    update.detail = interest.detail.map { id in
      OperationDetail(
        id: id, reasons: [.init(kind: .notReadyByItself, sentence: "it waits for \(name(0))")])
    }
    return update
  }
}
