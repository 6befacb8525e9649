// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// One moment of a monitored process as `opq-top --batch --json` prints it, and as the dashboard
/// exports it: an object a line.
///
/// Fields may be added under the same ``schema``; none changes its meaning or goes away. Numbers are
/// numbers, and states are the words of ``OperationState``. Names are as the process gave them.
public struct BatchFrame: Codable, Sendable, Equatable {
  /// The value of ``schema`` in frames of this form.
  public static let currentSchema = "opq.frame/1"

  /// A moment.
  public struct Time: Codable, Sendable, Equatable {
    /// The time of day in UTC, with milliseconds, as RFC 3339 writes it.
    public var wallClock: String
    /// The same on the process's monotonic clock, in nanoseconds.
    public var monotonic: MonitorTime
  }

  /// A process.
  public struct Process: Codable, Sendable, Equatable {
    /// The program's name.
    public var name: String
    /// The process's id.
    public var pid: Int32
  }

  /// An operation.
  public struct Operation: Decodable, Sendable, Equatable {
    typealias CodingKeys = Field

    /// Identifies the operation for the life of the process.
    public var id: OperationReport.ID
    /// Its name.
    public var name: String
    /// Its state.
    public var state: OperationState
    /// The name of its queue; empty where the queue is gone.
    public var queue: String
    /// The name of its Swift class.
    public var className: String
    /// Its priority, as Foundation's number.
    public var priority: OperationPriority
    /// The operations that it depends on.
    public var dependencies: [OperationReport.ID]
    /// How many of these have not finished.
    public var unmetDependencyCount: Int
    /// How long it has been in its state, or, where it is over, for how long it ran: what the dashboard
    /// shows as its time. `nil` where that is not known, or where it is over and never ran.
    public var seconds: Double?
    /// How long it has been in its state, that it is over included; `nil` where it got there before
    /// anybody watched.
    public var secondsInState: Double?
  }

  /// Something that probably is not meant.
  public struct Warning: Codable, Sendable, Equatable {
    /// What is the matter.
    public var kind: MonitorWarning.Kind
    /// The operations that it is about, in the order that the kind says; at most 100.
    public var operations: [OperationReport.ID]
    /// What these wait for, where the kind says so; at most 100.
    public var awaited: [OperationReport.ID]
    /// The name of the queue that it is about; `nil` where it is not about one.
    public var queue: String?
    /// How many operations are concerned; for deadlocks how many more wait because of it.
    public var count: Int
    /// For how long; `nil` where that is not known.
    public var seconds: Double?
  }

  /// Says what form this object has.
  public var schema: String
  /// When the frame was made.
  public var time: Time
  /// Whose frame it is.
  public var process: Process
  /// How many operations are in each state, in all queues that are alive.
  public var counts: StateCounts
  /// The queues, by id.
  public var queues: [QueueReport]
  /// The operations that are known individually, by id: all that have not finished, and the last
  /// that have; in an export those that were listed.
  public var operations: [Operation]
  /// What probably is not meant, what matters most first.
  public var warnings: [Warning]
  /// How many changes of state the history has lost since the start. States are exact all the same.
  public var lostChanges: UInt64

  /// Creates a frame from what a monitor has told.
  ///
  /// - Parameters:
  ///   - hello: The monitor's greeting.
  ///   - time: The moment to which times are related.
  ///   - queues: The queues that are alive, in any order.
  ///   - operations: The operations that are kept, in any order.
  ///   - warnings: What probably is not meant, what matters most first.
  ///   - lostChanges: How many changes the monitor has lost.
  public init(
    hello: Hello, time: MonitorTime, queues: [QueueReport],
    operations: some Sequence<OperationReport>, warnings: [MonitorWarning] = [],
    lostChanges: UInt64
  ) {
    schema = Self.currentSchema
    self.time = Time(wallClock: hello.wallClock(at: time), monotonic: time)
    process = Process(name: hello.processName, pid: hello.processID)
    counts = queues.counts
    self.queues = queues.sorted { $0.id < $1.id }
    let names = Dictionary(queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    self.operations = operations.sorted { $0.id < $1.id }.map {
      Operation(report: $0, queue: names[$0.queue] ?? "", at: time)
    }
    self.warnings = warnings.map { warning in
      Warning(
        kind: warning.kind, operations: warning.operations, awaited: warning.awaited,
        queue: warning.queue.map { names[$0] ?? "" }, count: warning.count,
        seconds: warning.since.map { Self.seconds(from: $0, to: time) })
    }
    self.lostChanges = lostChanges
  }

  /// Cut to milliseconds, because more digits would only pretend; 0 where negative.
  static func seconds(from start: MonitorTime, to end: MonitorTime) -> Double {
    Double(max(0, end.nanoseconds - start.nanoseconds) / 1_000_000) / 1_000
  }
}

extension BatchFrame.Operation {
  init(report: OperationReport, queue: String, at time: MonitorTime) {
    id = report.id
    name = report.name
    state = report.state
    self.queue = queue
    className = report.className
    priority = report.priority
    dependencies = report.dependencies
    unmetDependencyCount = report.unmetDependencyCount
    seconds =
      if report.state.isOver {
        report.started.flatMap { start in
          report.finished.map { BatchFrame.seconds(from: start, to: $0) }
        }
      } else {
        report.stateEntered.map { BatchFrame.seconds(from: $0, to: time) }
      }
    secondsInState = report.stateEntered.map { BatchFrame.seconds(from: $0, to: time) }
  }
}

extension Hello {
  /// The time of day at a moment, in UTC with milliseconds: `2026-11-21T03:52:11.123Z`.
  package func wallClock(at time: MonitorTime) -> String {
    let sinceAnchor = Double(time.nanoseconds - anchor.nanoseconds) / 1e9
    // A process may say anything of the time of day.
    let milliseconds =
      Int64(exactly: ((anchorSecondsSince1970 + sinceAnchor) * 1_000).rounded(.down)) ?? 0
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date =
      "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
    let clock = "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
    return "\(date)T\(clock).\(digits(Int32(milliseconds % 1_000), 3))Z"
  }
}
