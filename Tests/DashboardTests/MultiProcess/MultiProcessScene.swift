// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// Three processes that the dashboard watches at the same time: the process of ``Scene``, a process
/// that accepts no commands, and a process that has ended.
enum MultiProcessScene {
  /// Returns the id of an operation of the process with the number `number`. `id` is the
  /// operation's id within the process.
  static func id(_ number: Int, _ id: UInt64) -> OperationReport.ID {
    OperationReport.ID(UInt64(number) << 56 | id)
  }

  /// Returns the id of a queue of the process with the number `number`. `id` is the queue's id
  /// within the process.
  static func queue(_ number: Int, _ id: QueueReport.ID) -> QueueReport.ID {
    QueueReport.ID(UInt64(number) << 56 | id.rawValue)
  }

  static let processes = [
    process(1, "tilebuild", 4711, queues: Scene.queues),
    process(2, "mailer", 4802, isReadOnly: true, queues: [Scene.queues[1]]),
    process(
      3, "imaged", 5002,
      .ended(at: Scene.now - .seconds(30), reason: "replaced by another process"),
      queues: [Scene.queues[0], Scene.queues[3]]),
  ]

  static func process(
    _ number: Int, _ name: String, _ id: Int32, _ connection: ProcessReport.Connection = .live,
    isReadOnly: Bool = false, queues: [QueueReport]
  ) -> ProcessReport {
    var hello = Scene.hello
    (hello.processName, hello.processID, hello.isReadOnly) = (name, id, isReadOnly)
    let counts = queues.reduce(StateCounts()) { $0 + $1.counts }
    var hasEnded = false
    if case .ended = connection { hasEnded = true }
    return ProcessReport(
      number: number, hello: hello, connection: connection,
      counts: hasEnded ? over(counts) : counts, lostChanges: number == 3 ? 12 : 0,
      lastUpdate: connection == .live ? Scene.now : Scene.now - .seconds(40))
  }

  /// Returns the operations of ``Scene`` in these queues, as operations of the process with the
  /// number `number`.
  static func operations(_ number: Int, on queues: [QueueReport]) -> [OperationReport] {
    let ids = Set(queues.map(\.id))
    return Scene.operations.filter { ids.contains($0.queue) }.map { report in
      OperationReport(
        id: id(number, report.id.rawValue), name: report.name, className: report.className,
        queue: queue(number, report.queue), state: report.state, priority: report.priority,
        dependencies: report.dependencies.map { id(number, $0.rawValue) },
        unmetDependencyCount: report.unmetDependencyCount, added: report.added,
        becameReady: report.becameReady, started: report.started,
        cancelRequested: report.cancelRequested, finished: report.finished)
    }
  }

  /// Returns the counts of an ended process: only finished and cancelled operations.
  private static func over(_ counts: StateCounts) -> StateCounts {
    StateCounts(
      finished: counts.finished, cancelled: counts.cancelled,
      total: counts.finished + counts.cancelled)
  }

  static func queues(_ number: Int, _ queues: [QueueReport]) -> [QueueReport] {
    queues.map {
      QueueReport(
        id: queue(number, $0.id), name: $0.name,
        counts: number == 3 ? over($0.counts) : $0.counts, width: $0.width,
        isSuspended: $0.isSuspended)
    }
  }

  static var hello: Hello {
    var hello = Scene.hello
    (hello.processName, hello.processID) = ("3 processes", 0)
    return hello
  }

  static var update: Update { update(of: processes) }

  /// Returns an update with the operations of three processes, and with these reports about the
  /// processes.
  static func update(of processes: [ProcessReport]) -> Update {
    let own = [Scene.queues, [Scene.queues[1]], [Scene.queues[0], Scene.queues[3]]]
    let operations = own.enumerated().flatMap { Self.operations($0 + 1, on: $1) }
    var update = FakeMonitor(operations).update(
      for: Interest(), queues: own.enumerated().flatMap { Self.queues($0 + 1, $1) },
      changed: operations.map(\.id), removed: [], lostChanges: 12, at: Scene.now)
    update.processes = processes
    return update
  }

  /// Returns a dashboard that has received the state of the three processes.
  static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Dashboard(
      configuration: .init(source: .processes(["/run/1", "/run/2", "/run/3"])))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }
}
