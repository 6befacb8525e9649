// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The state of a monitored process at one moment, as `opq-top --batch --json` prints it and the
/// dashboard exports it: one object per line.
///
/// Fields may be added under the same ``schema``. No field is removed or changes its meaning.
/// Numbers are JSON numbers, states are the raw values of ``OperationState``, and names are exactly
/// as the process sent them.
public struct BatchFrame: Codable, Sendable, Equatable {
  /// The value of ``schema`` in frames of this format.
  public static let currentSchema = "opq.frame/1"

  /// A moment, as a time of day and as a time of the process's monotonic clock.
  public struct Time: Codable, Sendable, Equatable {
    /// The time of day in UTC with milliseconds, in the format of RFC 3339.
    public var wallClock: String
    /// The same moment on the process's monotonic clock, in nanoseconds.
    public var monotonic: MonitorTime

    /// Creates the moment of a time of a process.
    package init(_ time: MonitorTime, of hello: Hello) {
      (wallClock, monotonic) = (hello.wallClock(at: time), time)
    }
  }

  /// The process that a frame describes.
  public struct Process: Codable, Sendable, Equatable {
    /// The program's name.
    public var name: String
    /// The id of the process.
    public var pid: Int32
    /// The other machine on which the process runs, as the user names it; `nil` for this machine.
    public var host: String?
  }

  /// The state of one operation in a frame.
  public struct Operation: Decodable, Sendable, Equatable {
    typealias CodingKeys = Field

    /// Identifies the operation for the life of the process.
    public var id: OperationReport.ID
    /// The name of the operation.
    public var name: String
    /// The state of the operation.
    public var state: OperationState
    /// The name of the operation's queue; empty if the queue no longer exists.
    public var queue: String
    /// The name of the operation's Swift class.
    public var className: String
    /// What the operation does; the name of its class if the program has set no kind. `nil` in frames
    /// of earlier versions.
    public var kind: String?
    /// The last attempts of a retry, the oldest first; `nil` for other operations.
    public var attempts: [Attempt]?
    /// The priority of the operation, as Foundation's number.
    public var priority: OperationPriority
    /// The ids of the operations that this operation depends on.
    public var dependencies: [OperationReport.ID]
    /// The number of dependencies that have not finished.
    public var unmetDependencyCount: Int
    /// The time that the dashboard shows for the operation, in seconds: the run time if the
    /// operation is finished or cancelled; otherwise the time in its current state. `nil` if the
    /// time is unknown, or if the operation is finished or cancelled and never ran.
    public var seconds: Double?
    /// The time in seconds since the operation entered its current state, which may be finished or
    /// cancelled; `nil` if the operation entered the state before monitoring began.
    public var secondsInState: Double?
    /// The text of the operation's error, at most 1 KiB; `nil` if the operation has not failed, or its
    /// error is unknown.
    public var error: String?
    /// What cancelled the operation; `nil` if the operation was not cancelled or the cause is unknown.
    public var cancellation: Cancellation?
    /// The progress that the operation's code has reported last, or the progress of a group's members;
    /// `nil` if there is none.
    public var progress: Progress?
    /// What the operation does at this moment, as its code has reported it last, at most 1 KiB; `nil` if
    /// there was no report.
    public var status: String?
    /// The time in seconds until the end of the delay for which the operation waits; 0 if the delay should have
    /// ended. `nil` if the operation waits for no delay, or if the clock of the delay is not one of the standard
    /// library.
    public var delay: Double?
  }

  /// The progress of an operation.
  public struct Progress: Codable, Sendable, Equatable {
    /// The number of completed units.
    public var completed: Int
    /// The number of all units; `nil` if it is unknown.
    public var total: Int?

    /// The number of completed units, and the number of all units if it is known: `450/1000`.
    package var numbers: String { "\(completed)" + (total.map { "/\($0)" } ?? "") }
  }

  /// One attempt of a retry. Attempts are not added to a queue, so ``operations`` does not contain them.
  public struct Attempt: Codable, Sendable, Equatable {
    /// The number of the attempt; the first attempt has the number 1.
    public var number: Int
    /// Identifies the operation of the attempt for the life of the process.
    public var id: OperationReport.ID
    /// The name of the attempt's operation.
    public var name: String
    /// What the attempt's operation does.
    public var kind: String
    /// The state of the attempt.
    public var state: OperationState
    /// How long the attempt ran, or has run so far, in seconds.
    public var seconds: Double
    /// The text of the attempt's error, at most 1 KiB; `nil` if it is not known. Only the last known
    /// error of a retry is included, unless it is the error of the retry.
    public var error: String?
  }

  /// A warning about a condition of queues or operations that probably is a mistake.
  public struct Warning: Codable, Sendable, Equatable {
    /// The kind of the warning.
    public var kind: MonitorWarning.Kind
    /// The operations that the warning is about, in the order that the kind defines; at most 100.
    public var operations: [OperationReport.ID]
    /// The operations that the operations in ``operations`` wait for; at most 100. The list is
    /// empty for kinds of warnings that name no such operations.
    public var awaited: [OperationReport.ID]
    /// The name of the queue that the warning is about; `nil` if it is not about a queue.
    public var queue: String?
    /// The number of affected operations. For a deadlock, the number of further operations that
    /// wait because of the deadlock.
    public var count: Int
    /// The time in seconds for which the condition has lasted; `nil` if unknown.
    public var seconds: Double?
  }

  /// The name and version of the format of this object: ``currentSchema``.
  public var schema: String
  /// The time at which the frame was made.
  public var time: Time
  /// The monitored process.
  public var process: Process
  /// The number of operations in each state, in all existing queues.
  public var counts: StateCounts
  /// The existing queues, sorted by id.
  public var queues: [QueueReport]
  /// The operations that the monitor keeps: all unfinished operations and the last finished
  /// operations, sorted by id. An export has only the operations that the dashboard lists.
  public var operations: [Operation]
  /// The warnings, the most important first.
  public var warnings: [Warning]
  /// The number of state changes since the start that the monitor did not record. The states of
  /// operations are exact nevertheless.
  public var lostChanges: UInt64
  /// The number of completion blocks of finished operations that had not begun when the process ended or
  /// stopped listening; `nil` if there are none, or in a frame before the end.
  public var unstartedCompletionBlockCount: Int?

  /// Creates a frame from the messages of a monitor.
  ///
  /// - Parameters:
  ///   - hello: The monitor's greeting.
  ///   - time: The moment for which the ages of operations are computed.
  ///   - queues: The existing queues, in any order.
  ///   - operations: The operations that are kept, in any order.
  ///   - warnings: The warnings, the most important first.
  ///   - lostChanges: The number of changes that the monitor did not record.
  public init(
    hello: Hello, time: MonitorTime, queues: [QueueReport],
    operations: some Sequence<OperationReport>, warnings: [MonitorWarning] = [],
    lostChanges: UInt64
  ) {
    let operations = Array(operations)
    let isCancelled = operations.contains { $0.cancellationCause != nil }
    let known = Dictionary(
      isCancelled ? operations.map { ($0.id, $0) } : [], uniquingKeysWith: { first, _ in first })
    self.init(
      hello: hello, time: time, queues: queues, operations: operations, warnings: warnings,
      lostChanges: lostChanges, report: { known[$0] })
  }

  /// Creates a frame from the messages of a monitor.
  ///
  /// - Parameters:
  ///   - hello: The monitor's greeting.
  ///   - time: The moment for which the ages of operations are computed.
  ///   - queues: The existing queues, in any order.
  ///   - operations: The operations that are kept, in any order.
  ///   - warnings: The warnings, the most important first.
  ///   - lostChanges: The number of changes that the monitor did not record.
  ///   - namesProcess: Whether ids in sentences include the number of a process, if several processes are
  ///     watched.
  ///   - report: Returns the report of an operation that the cause of a cancellation names; `nil` if the
  ///     operation is not known.
  package init(
    hello: Hello, time: MonitorTime, queues: [QueueReport],
    operations: some Sequence<OperationReport>, warnings: [MonitorWarning],
    lostChanges: UInt64, namesProcess: Bool = true,
    report: @escaping (OperationReport.ID) -> OperationReport?
  ) {
    schema = Self.currentSchema
    self.time = Time(time, of: hello)
    process = Process(
      name: hello.processName, pid: hello.processID, host: hello.host.isEmpty ? nil : hello.host)
    counts = queues.counts
    self.queues = queues.sorted { $0.id < $1.id }
    let names = Dictionary(queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    var texts = CancellationText(
      namesProcess: namesProcess, queueName: { names[$0] }, report: report)
    let counts = Dictionary(
      queues.map { ($0.id, $0.counts) }, uniquingKeysWith: { first, _ in first })
    self.operations = operations.sorted { $0.id < $1.id }.map { report in
      var operation = Operation(report: report, queue: names[report.queue] ?? "", at: time)
      if let members = report.memberQueue.flatMap({ counts[$0] }), report.progress == nil {
        operation.progress = OperationProgress(ofMembers: members, since: time).map { Progress($0) }
      }
      if let cause = report.cancellationCause, let sentence = texts.sentence(about: report) {
        operation.cancellation = Cancellation(cause, sentence: sentence)
      }
      return operation
    }
    self.warnings = warnings.map { warning in
      Warning(
        kind: warning.kind, operations: warning.operations, awaited: warning.distinctAwaited,
        queue: warning.queue.map { names[$0] ?? "" }, count: warning.count,
        seconds: warning.since.map { Self.seconds(from: $0, to: time) })
    }
    self.lostChanges = lostChanges
  }

  /// Returns the time from `start` to `end` in seconds; 0 if the time is negative. The time is
  /// truncated to milliseconds, because further digits would not be exact.
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
    kind = report.kind
    priority = report.priority
    dependencies = report.dependencies
    unmetDependencyCount = report.unmetDependencyCount
    seconds =
      if report.state.isOver {
        report.neverRan
          ? nil
          : report.started.flatMap { start in
            report.finished.map { BatchFrame.seconds(from: start, to: $0) }
          }
      } else {
        report.stateEntered.map { BatchFrame.seconds(from: $0, to: time) }
      }
    secondsInState = report.stateEntered.map { BatchFrame.seconds(from: $0, to: time) }
    error = report.errorText
    progress = report.progress.map { BatchFrame.Progress($0) }
    status = report.statusText
    delay = report.delayEnd.map { BatchFrame.seconds(from: time, to: $0) }
    attempts = report.attempts.map { attempts in
      attempts.attempts.map { BatchFrame.Attempt($0, of: attempts, at: time) }
    }
  }
}

extension BatchFrame.Progress {
  fileprivate init(_ progress: OperationProgress) {
    (completed, total) = (progress.completed, progress.total)
  }
}

extension BatchFrame.Attempt {
  fileprivate init(_ attempt: RetryAttempts.Attempt, of all: RetryAttempts, at time: MonitorTime) {
    number = attempt.number
    id = attempt.id
    name = attempt.name
    kind = attempt.kind
    state = attempt.state
    seconds = BatchFrame.seconds(from: attempt.started, to: attempt.finished ?? time)
    error = all.lastFailure.flatMap { $0.number == attempt.number ? $0.text : nil }
  }
}

extension Hello {
  /// Returns the time of day at a moment, in UTC with milliseconds: `2026-11-21T03:52:11.123Z`.
  package func wallClock(at time: MonitorTime) -> String {
    let sinceAnchor = Double(time.nanoseconds - anchor.nanoseconds) / 1e9
    // The time of day comes from the watched process, which may send any value, also a value that
    // does not fit into an integer.
    let milliseconds =
      Int64(exactly: ((anchorSecondsSince1970 + sinceAnchor) * 1_000).rounded(.down)) ?? 0
    let date = cmonitor_utc_date(milliseconds / 1_000)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day))"
    let clock = "\(digits(date.hour)):\(digits(date.minute)):\(digits(date.second))"
    return "\(day)T\(clock).\(digits(Int32(milliseconds % 1_000), 3))Z"
  }
}
