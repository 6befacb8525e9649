// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// All data of a recording, with the last report of each operation.
public struct RunHistory: Sendable {
  /// The counts of all queues together at one moment. The counts are exact even if operations were not
  /// recorded.
  public struct Sample: Sendable, Equatable {
    /// The time of the update.
    public var time: MonitorTime
    /// The sum of the counts of all queues that existed at that time.
    public var counts: StateCounts
  }

  /// A warning with the time during which it existed.
  public struct WarningSpell: Sendable, Equatable {
    /// The last report of the warning.
    public var warning: MonitorWarning
    /// The time of the first update with the warning.
    public var first: MonitorTime
    /// The time of the last update with the warning. All updates between the first and the last one also
    /// contain the warning.
    public var last: MonitorTime
  }

  /// The greeting of the recorded process.
  public let hello: Hello
  /// The time of the first update.
  public private(set) var start: MonitorTime
  /// The time of the last update.
  public private(set) var end: MonitorTime
  /// The last reports of the operations, except of operations that had ended before the recording began. Only
  /// the first million operations are kept.
  public private(set) var operations: [OperationReport.ID: OperationReport] = [:]
  /// The last report of each queue, including queues that no longer exist.
  public private(set) var queues: [QueueReport.ID: QueueReport] = [:]
  /// A sample for each update, sorted by time. A sample has the counts of all queues together.
  public private(set) var samples: [Sample] = []
  /// The warnings, sorted by the time of their first update.
  public private(set) var warnings: [WarningSpell] = []
  /// The number of state changes that were not recorded. Operations without recorded changes are only
  /// counted.
  public private(set) var lostChanges: UInt64 = 0
  /// The number of operations that existed when the recording began or were added later. It includes
  /// operations that were not recorded.
  public private(set) var operationCount = 0
  /// The number of reported operations that had already finished when the recording began.
  public var earlierCount: Int { earlier.count }
  /// The number of operations that were counted but not recorded.
  public var unrecordedCount: Int { operationCount - operations.count }
  /// The reason why the recording is incomplete, as a sentence; `nil` if it is complete.
  public private(set) var fault: String?
  /// The text of the last message, which says why the recording ended; `nil` if there is no such message.
  public private(set) var farewell: String?

  /// The maximum number of operations that are kept. Each operation takes almost a kilobyte.
  public static let operationLimit = 1_000_000
  /// The maximum delay with which the finish time of an operation is measured. A recorded finish time is
  /// corrected by at most this delay.
  private static let longestLateness = Duration.milliseconds(100)

  /// For operations that are no longer reported and had not finished, the time at which they were last
  /// reported.
  private var vanished: [OperationReport.ID: MonitorTime] = [:]
  /// For operations that existed before the recording, the time and the state of their first report.
  private var found: [OperationReport.ID: (time: MonitorTime, state: OperationState)] = [:]
  private var unfinished: Set<OperationReport.ID> = []
  private var earlier: Set<OperationReport.ID> = []
  private var openWarnings: [WarningIdentity: Int] = [:]
  private var firstLost: UInt64?
  private var firstCounts: [QueueReport.ID: StateCounts] = [:]

  /// Reads a recording from its beginning to its last complete update.
  ///
  /// - Parameter reader: The recording.
  public init(_ reader: RecordingReader) {
    var reader = reader
    hello = reader.hello
    start = reader.start
    end = reader.start
    var offset = reader.snapshot(upTo: reader.start)
    while let next = reader.update(at: offset) {
      take(next.update, isWhole: next.isWhole)
      offset = next.end
    }
    fault = reader.fault
    farewell = reader.farewell
    beginWhereFound()
    alignFinishes()
    operationCount = queues.reduce(0) { sum, queue in
      let first = firstCounts[queue.key] ?? StateCounts()
      let before = first.finished + first.cancelled
      return sum + max(0, queue.value.counts.total - before)
    }
    operationCount = max(operationCount, operations.count)
  }

  /// Returns the time span in which an operation ran; `nil` if it never ran, or if its start time is unknown.
  /// If its finish was not reported, the span ends with the operation's last report. If it was still running,
  /// the span ends with the recording.
  public func run(of report: OperationReport) -> Range<MonitorTime>? {
    guard let started = report.started else { return nil }
    let finished = report.finished ?? vanished[report.id] ?? end
    return started..<max(started, finished)
  }

  /// Returns whether an operation is no longer reported although it had not finished.
  public func isGone(_ id: OperationReport.ID) -> Bool { vanished[id] != nil }

  /// Returns the name of a queue; the number of the queue if its name is unknown.
  public func name(of queue: QueueReport.ID) -> String {
    queues[queue].map(\.name) ?? "queue \(queue.rawValue)"
  }

  private mutating func take(_ update: Update, isWhole: Bool) {
    end = max(end, update.time)
    // A complete update contains every operation that the process still reports.
    if isWhole { vanish(unfinished.subtracting(update.changed.map(\.id)), at: update.time) }
    for report in update.changed where !earlier.contains(report.id) {
      if samples.isEmpty, report.state.isOver {
        earlier.insert(report.id)
        continue
      }
      if operations[report.id] == nil {
        guard operations.count < Self.operationLimit else { continue }
        if report.added == nil { found[report.id] = (update.time, report.state) }
      }
      operations[report.id] = report
      vanished[report.id] = nil
      if report.state.isOver {
        unfinished.remove(report.id)
      } else {
        unfinished.insert(report.id)
      }
    }
    vanish(unfinished.intersection(update.removed), at: update.time)
    for queue in update.queues {
      queues[queue.id] = queue
      // Operations that finished before the first update do not belong to this history.
      if firstCounts[queue.id] == nil {
        firstCounts[queue.id] = samples.isEmpty ? queue.counts : StateCounts()
      }
    }
    samples.append(
      Sample(time: update.time, counts: update.queues.counts))
    let first = firstLost ?? update.lostChanges
    firstLost = first
    lostChanges = max(lostChanges, update.lostChanges &- min(first, update.lostChanges))
    take(update.warnings, at: update.time)
  }

  /// Sets the moment of addition of an operation that was added before the recording began. It is the moment
  /// of the operation's first report, because the operation has waited at least since then.
  private mutating func beginWhereFound() {
    for (id, beginning) in found {
      guard var report = operations[id], beginning.state != .executing else { continue }
      report.added = min(beginning.time, report.becameReady ?? report.started ?? beginning.time)
      if report.becameReady == nil, [.ready, .held].contains(beginning.state) {
        report.becameReady = min(beginning.time, report.started ?? beginning.time)
      }
      operations[id] = report
    }
    found = [:]
  }

  /// Corrects finish times that are later than the moment at which dependents became ready. The finish time
  /// is measured when an operation leaves its queue, and the thread of the operation may be delayed before it
  /// measures the time.
  private mutating func alignFinishes() {
    var finishes: [OperationReport.ID: MonitorTime] = [:]
    for report in operations.values {
      // A cancelled operation does not wait for its dependencies. Therefore the moment at which it became
      // ready cannot be used to correct the finish times of its dependencies.
      guard let ready = report.becameReady,
        report.cancelRequested.map({ $0 > ready }) ?? true
      else { continue }
      for dependency in report.dependencies {
        guard let noted = operations[dependency]?.finished, noted > ready,
          noted - ready <= Self.longestLateness
        else { continue }
        finishes[dependency] = min(ready, finishes[dependency] ?? ready)
      }
    }
    for (id, time) in finishes {
      let started = operations[id]?.started
      operations[id]?.finished = max(time, started ?? time)
    }
  }

  private mutating func vanish(_ ids: Set<OperationReport.ID>, at time: MonitorTime) {
    for id in ids { vanished[id] = time }
    unfinished.subtract(ids)
  }

  private mutating func take(_ current: [MonitorWarning], at time: MonitorTime) {
    var open: [WarningIdentity: Int] = [:]
    for warning in current {
      let identity = WarningIdentity(warning)
      if let index = openWarnings[identity] {
        warnings[index].warning = warning
        warnings[index].last = time
        open[identity] = index
      } else {
        open[identity] = warnings.count
        warnings.append(WarningSpell(warning: warning, first: time, last: time))
      }
    }
    openWarnings = open
  }
}
