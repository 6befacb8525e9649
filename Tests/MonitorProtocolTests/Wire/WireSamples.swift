// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Values in which every field differs from its default.
enum WireSamples {
  static func ids(_ numbers: UInt64...) -> [OperationReport.ID] { numbers.map { .init($0) } }

  static func time(_ nanoseconds: Int64) -> MonitorTime { MonitorTime(nanoseconds: nanoseconds) }

  static var hello: Hello {
    var hello = Hello(
      processName: "tiles \u{1B}[2J é", processID: 4711, isReadOnly: true,
      anchor: time(5_000_000_000),
      anchorSecondsSince1970: 1_795_305_600.25, processStarted: time(-7))
    hello.bootID = "1f0c5a3e-8d0b-4c33-9c39-8b7f6a5d4e21"
    hello.totalCount = 1_234_567
    hello.startTicks = .max
    hello.canRetry = true
    return hello
  }

  static var viewerHello: ViewerHello {
    ViewerHello(
      versions: ProtocolVersions(major: 1, minor: 7), processID: 5120, isReadOnly: true)
  }

  static func interest() throws -> Interest {
    var interest = Interest(
      order: SortOrder(by: .dependents, isReversed: true),
      filter: try OperationFilter("state:exec !\"two words\"|queue:io age>5s"), hidesOver: true,
      rowLimit: 77, operations: Set(ids(1, 300, .max)),
      graphs: [
        .init(root: .init(9), direction: .waitsFor, limit: 300),
        .init(root: .init(9), direction: .blocks, limit: 0),
      ], subjects: Set(ids(4, 5)))
    interest.names = ["merge \"shard\" 3", "é\u{1B}"]
    interest.showsWarnedOnly = true
    interest.rootLimit = 2_000
    interest.eventLimit = 10_000
    interest.timeline = .init(window: .seconds(90), limit: 5_000)
    interest.detail = .init(0)
    interest.search = .init(text: "merge", start: .init(0))
    interest.logs = .operations(Set(ids(6, .max)))
    interest.queueTimes = true
    interest.runOrder = .init(
      queues: [.init(3), .init(.max)], limit: 40, includesOperations: true)
    interest.groups = .init(by: .queue, limit: 9)
    interest.warningKinds = [.cycle, .leaking]
    return interest
  }

  static var commands: [MonitorCommand] {
    [
      .cancel(ids(1, 2, .max)), .cancel([]), .cancelWithDependents(ids(7)),
      .setSuspended(.init(3), true), .setSuspended(.init(0), false), .setWidth(.init(3), 8),
      .setWidth(.init(3), 0), .setWidth(.init(3), nil), .changePriority(ids(5, 4), by: -1),
      .changePriority(ids(5), by: 4), .retry(ids(6, .max)), .retry([]),
      .retry(ids(7), names: ["merge \u{1B}[2J é", ""]), .setStartLimit(.init(3), nil),
      .setStartLimit(.init(.max), .init(count: 100, periodSeconds: 60)),
      .setStartLimit(.init(3), .init(count: 1, periodNanoseconds: 1)),
    ]
  }

  /// The reasons for two outcomes of a command, by their indexes.
  static let refusals = [1: "it has succeeded", 4: "\u{1B}[2J é"]

  static var queue: QueueReport {
    var report = QueueReport(
      id: .init(3), name: "net",
      counts: StateCounts(
        waiting: 1, ready: 2, held: 3, executing: 4, cancelling: 5, finished: 6, failed: 5,
        cancelled: 7, total: 8),
      width: 9, isSuspended: true, startLimit: .init(count: 5, periodSeconds: 0.25))
    report.times = times
    report.startedCount = 17
    return report
  }

  static var operation: OperationReport {
    var report = OperationReport(
      id: .init(1_042), name: "merge shard 3", className: "MergeOperation", queue: .init(3),
      state: .cancelling, priority: .veryHigh, dependencies: ids(7, 5, .max),
      unmetDependencyCount: 2, isExcluded: true, dependentCount: 40, added: time(1),
      becameReady: time(2), started: time(3), cancelRequested: time(4), finished: time(5))
    report.cancelRequester = CommandOrigin(processID: 5_120, userID: 1_000)
    report.errorText = "no longer needed"
    report.cancellationCause = .queue(.init(3), reason: "shutting down")
    report.givenKind = "merge \u{1B}[2J"
    report.attempts = attempts
    report.progress = OperationProgress(
      completed: 1 << 50, total: 1 << 51, base: 7, since: time(8_000))
    report.statusText = "parsing \u{1B}[2J page 7"
    report.memberQueue = .init(4)
    report.delayEnd = time(9_000)
    report.qualityOfService = .utility
    return report
  }

  /// An executing operation whose start is unknown.
  static var executing: OperationReport {
    var report = OperationReport(
      id: .init(1_043), name: "", className: "MergeOperation", queue: .init(3), state: .executing)
    report.foundExecuting = time(6)
    return report
  }

  /// The attempts of a retry, and its last error.
  static var attempts: RetryAttempts {
    func attempt(_ number: Int, _ state: OperationState, _ finished: Int64?)
      -> RetryAttempts.Attempt
    {
      .init(
        id: .init(UInt64(70 + number)), number: number, name: number == 5 ? "" : "try é",
        kind: "fetch", state: state, started: time(Int64(number)), finished: finished.map(time))
    }
    return RetryAttempts(
      maximum: 9, number: 6,
      attempts: [
        attempt(2, .failed, 6), attempt(3, .cancelled, 7), attempt(4, .finished, 8),
        attempt(5, .executing, nil), attempt(6, .cancelling, nil),
      ], pauseEnd: time(99), lastFailure: .init(number: 2, text: "timed out"))
  }

  static var event: OperationEvent {
    OperationEvent(
      time: time(11), operation: .init(12), title: "upload", queue: .init(3), old: .held,
      new: .executing)
  }

  static var run: OperationRun {
    OperationRun(
      id: .init(13), title: "GET", queue: .init(3), state: .finished, started: time(14),
      finished: time(15), kind: "fetch \u{1B}[2J")
  }

  static var warning: MonitorWarning {
    MonitorWarning(
      kind: .slow, operations: ids(1, 2), title: "a", awaited: ids(3), awaitedTitle: "b",
      queue: .init(3), count: 4, since: time(5), usual: .milliseconds(6),
      limit: 7)
  }

  static var times: TimeStatistics {
    TimeStatistics(
      wait: Percentiles(
        count: 20, p50: .nanoseconds(1), p90: .nanoseconds(2), p99: .nanoseconds(3)),
      run: Percentiles(count: 1, p50: .seconds(4), p90: .seconds(5), p99: .seconds(6)))
  }

  static var runOrder: RunOrder {
    RunOrder(queue: .init(3), executing: ids(1, .max), ready: ids(9, 2, 300), isCut: true)
  }

  static var group: OperationGroups.Group {
    .init(
      key: .kind("merge \u{1B}[2J é"), counts: queue.counts, endedCount: 1_000_000, times: times,
      runBuckets: (0..<OperationGroups.bucketCount).map { 300 * $0 })
  }

  /// Groups by kind. The second group has no times and an empty kind.
  static var groups: OperationGroups {
    OperationGroups(by: .kind, groups: [group, .init(key: .kind(""))], otherCount: 3)
  }

  static var detail: OperationDetail {
    OperationDetail(
      id: .init(1_042), qualityOfService: .userInitiated,
      reasons: [
        .init(kind: .unmetDependencies, sentence: "it waits for #5", operations: ids(5, 6)),
        .init(kind: .queueSuspended, sentence: "its queue is suspended"),
      ], awaitedOperations: ids(8, 9), awaitedQueues: [.init(4)])
  }

  static var matches: SearchMatches {
    SearchMatches(.init(text: "merge", start: .init(3)), count: 200, position: 100) { positions in
      positions.map { .init(UInt64($0)) }
    }
  }

  static var log: OperationLog {
    OperationLog(
      of: .init(1_042), first: 12,
      lines: zip(LogLine.Level.allCases, 0...).map { level, number in
        LogLine(time: time(30 + number), level: level, text: "page \(number)\n\u{1B}[2J é")
      })
  }

  static var update: Update {
    var update = Update(
      time: time(16), queues: [queue, QueueReport(id: .init(4), name: "")],
      changed: [
        operation,
        OperationReport(
          id: .init(1_043), name: "", className: "", queue: .init(4), state: .waiting),
      ], removed: ids(17, 18), matchCount: 19, keptCount: 20,
      dependents: Dependents(subjects: Set(ids(1, 2)), ids: ids(3, 4), isCut: true),
      lostChanges: 21)
    update.keptFinishedCount = 25
    update.rootCount = 22
    update.unstartedCompletionBlockCount = 28
    update.events = EventNews(events: [event], skippedCount: 23, isBeginning: true)
    update.runs = RecentRuns(runs: [run], count: 24)
    update.warnings = [warning, MonitorWarning(kind: .cycle)]
    update.times = times
    update.kindTimes = ["Merge": times, "": TimeStatistics(wait: times.wait)]
    update.behind = .milliseconds(1_200)
    update.matches = matches
    update.logs = [OperationLog(of: .init(7), mayBeDropped: true), log]
    update.detail = detail
    update.runOrders = [runOrder, RunOrder(queue: .init(4))]
    update.groups = groups
    return update
  }
}
