// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import MonitorProtocol

/// The messages of version 1.0 of the protocol. They must never change, because existing processes
/// use this version.
enum FirstVersion {
  static func time(_ nanoseconds: Int64) -> MonitorTime { MonitorTime(nanoseconds: nanoseconds) }

  static func viewerMessages() throws -> [ViewerMessage] {
    var interest = Interest(
      order: SortOrder(by: .queue, isReversed: true),
      filter: try OperationFilter("state:exec tile"),
      hidesOver: true, rowLimit: 500, operations: [.init(3), .init(300)],
      graphs: [
        .init(root: .init(9), direction: .waitsFor, limit: 300),
        .init(root: .init(9), direction: .blocks, limit: 64),
      ], subjects: [.init(4)])
    interest.showsWarnedOnly = true
    interest.rootLimit = 2_000
    interest.eventLimit = 10_000
    interest.timeline = .init(window: .seconds(60), limit: 5_000)
    interest.detail = .init(9)
    interest.warningKinds = [.cycle, .slotDeadlock, .slow, .leaking]
    return [
      .hello(
        ViewerHello(
          versions: .init(major: 1, minor: 0), processID: 5_120, isReadOnly: true)),
      .watch(interest, interval: .milliseconds(250)), .credit(8), .ping(77),
      .command(.cancel([.init(1), .init(2)]), token: 1),
      .command(.cancelWithDependents([.init(3)]), token: 2),
      .command(.setSuspended(.init(4), true), token: 3),
      .command(.setWidth(.init(4), 8), token: 4), .command(.setWidth(.init(4), nil), token: 5),
      .command(.changePriority([.init(5)], by: -1), token: 6), .bye(reason: "quit"),
    ]
  }

  static var processMessages: [ProcessMessage] {
    var hello = Hello(
      processName: "tiles", processID: 4_711, isReadOnly: true, anchor: time(5_000_000_000),
      anchorSecondsSince1970: 1_795_305_600.25, processStarted: time(1))
    hello.bootID = "1f0c5a3e"
    hello.totalCount = 857
    return [
      .hello(hello, versions: .init(major: 1, minor: 0)),
      .updatePart(UpdatePart(content: update, isFirst: true, isLast: false)),
      .updatePart(
        UpdatePart(
          content: Update(time: time(0), removed: [.init(7)]),
          moreDependencies: .init(operation: .init(1_042), dependencies: [.init(8)]),
          isFirst: false, isLast: true)),
      .commandResult(
        token: 2, outcomes: [.requested, .alreadyFinished, .unknown, .denied],
        dependents: [.init(9)]), .pong(77),
      .bye(
        Farewell(
          cause: .versionMismatch, reason: "another version", versions: .init(major: 1, minor: 0))),
    ]
  }

  private static var update: Update {
    var update = Update(
      time: time(16), queues: [queue], changed: [operation], removed: [.init(17)],
      matchCount: 19, keptCount: 20,
      dependents: Dependents(subjects: [.init(1)], ids: [.init(3)], isCut: true),
      lostChanges: 21)
    update.rootCount = 22
    update.events = EventNews(
      events: [
        OperationEvent(
          time: time(11), operation: .init(12), title: "upload", queue: .init(3), old: .held,
          new: .executing)
      ], skippedCount: 23, isBeginning: true)
    update.runs = RecentRuns(
      runs: [
        OperationRun(
          id: .init(13), title: "GET", queue: .init(3), state: .finished, started: time(14),
          finished: time(15))
      ], count: 24)
    update.warnings = [
      MonitorWarning(
        kind: .neverEnqueuedDependency, operations: [.init(1)], title: "a", awaited: [.init(3)],
        awaitedTitle: "b", queue: .init(3), count: 4, since: time(5), usual: .milliseconds(6))
    ]
    let percentiles = Percentiles(
      count: 20, p50: .nanoseconds(1), p90: .nanoseconds(2), p99: .nanoseconds(3))
    update.times = TimeStatistics(wait: percentiles)
    update.kindTimes = ["Merge": TimeStatistics(run: percentiles)]
    update.behind = .milliseconds(1_200)
    update.detail = OperationDetail(
      id: .init(1_042), qualityOfService: .utility,
      reasons: [.init(kind: .noFreeSlot, sentence: "its queue is full")],
      awaitedOperations: [.init(8)], awaitedQueues: [.init(4)])
    return update
  }

  private static var queue: QueueReport {
    QueueReport(
      id: .init(3), name: "net",
      counts: StateCounts(
        waiting: 1, ready: 2, held: 3, executing: 4, cancelling: 5, finished: 6, cancelled: 7,
        total: 8), width: 9, isSuspended: true)
  }

  private static var operation: OperationReport {
    var operation = OperationReport(
      id: .init(1_042), name: "merge", className: "MergeOperation", queue: .init(3),
      state: .cancelling, priority: .low, dependencies: [.init(7), .init(300)],
      unmetDependencyCount: 2, isExcluded: true, dependentCount: 40, added: time(1),
      becameReady: time(2), started: time(3), cancelRequested: time(4), finished: time(5))
    operation.cancelRequester = CommandOrigin(processID: 5_120, userID: 1_000)
    return operation
  }
}
