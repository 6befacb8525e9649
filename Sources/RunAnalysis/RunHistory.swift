// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// All that a recording tells of a run: each operation as it was told last.
public struct RunHistory: Sendable {
  /// What there was of all queues together at one moment. Counts are exact, whatever was not recorded.
  public struct Sample: Sendable, Equatable {
    /// When it was told.
    public var time: MonitorTime
    /// The counts of all queues that were alive.
    public var counts: StateCounts
  }

  /// A warning, and for how long it stood.
  public struct WarningSpell: Sendable, Equatable {
    /// As it was told last.
    public var warning: MonitorWarning
    /// The first update that had it.
    public var first: MonitorTime
    /// The last update that had it, without one between them that had not.
    public var last: MonitorTime
  }

  /// Who was watched.
  public let hello: Hello
  /// When the first update was made.
  public private(set) var start: MonitorTime
  /// When the last one was.
  public private(set) var end: MonitorTime
  /// The operations of which anything was told, but for those that were over before it began; a million at
  /// most, the first that came.
  public private(set) var operations: [OperationReport.ID: OperationReport] = [:]
  /// The queues as they were told last, those that are gone as well.
  public private(set) var queues: [QueueReport.ID: QueueReport] = [:]
  /// A sample for each update, by time.
  public private(set) var samples: [Sample] = []
  /// The warnings, by their beginning.
  public private(set) var warnings: [WarningSpell] = []
  /// How many state changes were lost meanwhile: of these operations nothing is known but their number.
  public private(set) var lostChanges: UInt64 = 0
  /// How many operations were there or were added meanwhile, those that were not recorded included.
  public private(set) var operationCount = 0
  /// How many had finished before it began, and were still told of.
  public var earlierCount: Int { earlier.count }
  /// How many of them were only counted.
  public var unrecordedCount: Int { operationCount - operations.count }
  /// Why there is no more, as a sentence; `nil` where the recording is whole.
  public private(set) var fault: String?
  /// What the process said when it ended; `nil` where it said nothing.
  public private(set) var farewell: String?

  /// More operations are not kept: each takes the better part of a kilobyte.
  public static let operationLimit = 1_000_000
  /// A finish is not noted later than this after it was one.
  private static let longestLateness = Duration.milliseconds(100)

  /// When what was no longer told of was last seen unfinished.
  private var vanished: [OperationReport.ID: MonitorTime] = [:]
  /// When operations were first told of that were there before, and their state then.
  private var found: [OperationReport.ID: (time: MonitorTime, state: OperationState)] = [:]
  private var unfinished: Set<OperationReport.ID> = []
  private var earlier: Set<OperationReport.ID> = []
  private var openWarnings: [WarningIdentity: Int] = [:]
  private var firstLost: UInt64?
  private var firstCounts: [QueueReport.ID: StateCounts] = [:]

  /// Takes in a recording from its beginning to its last whole update.
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

  /// From when to when an operation ran: to where it was told of last, where its end was not told, and to
  /// the end of the recording where it went on. `nil` where it never ran, or nobody knows since when.
  public func run(of report: OperationReport) -> Range<MonitorTime>? {
    guard let started = report.started else { return nil }
    let finished = report.finished ?? vanished[report.id] ?? end
    return started..<max(started, finished)
  }

  /// Whether nothing more was told of an operation although it had not finished.
  public func isGone(_ id: OperationReport.ID) -> Bool { vanished[id] != nil }

  /// The name of a queue, or its number where nothing more is known.
  public func name(of queue: QueueReport.ID) -> String {
    queues[queue].map(\.name) ?? "queue \(queue.rawValue)"
  }

  private mutating func take(_ update: Update, isWhole: Bool) {
    end = max(end, update.time)
    // Of what an update that holds everything does not name there is nothing more to tell.
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
      // What had finished before the first update is none of this run's.
      if firstCounts[queue.id] == nil {
        firstCounts[queue.id] = samples.isEmpty ? queue.counts : StateCounts()
      }
    }
    samples.append(
      Sample(time: update.time, counts: update.queues.reduce(StateCounts()) { $0 + $1.counts }))
    let first = firstLost ?? update.lostChanges
    firstLost = first
    lostChanges = max(lostChanges, update.lostChanges &- min(first, update.lostChanges))
    take(update.warnings, at: update.time)
  }

  /// Lets what had been added before anybody watched begin when it was found: it waited at least since then.
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

  /// Takes back a finish that was noted after what waited for it was let go: it is noted when the operation
  /// leaves its queue, and its thread may be kept from that for a moment.
  private mutating func alignFinishes() {
    var finishes: [OperationReport.ID: MonitorTime] = [:]
    for report in operations.values {
      // One that was cancelled waited for nothing any more.
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
