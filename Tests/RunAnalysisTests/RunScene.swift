// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis

/// Recordings for tests of the analysis. Most times are whole seconds.
enum RunScene {
  static let hello = Hello(
    processName: "tiles", processID: 4711, isReadOnly: false, anchor: time(0),
    anchorSecondsSince1970: 1_000, processStarted: time(0))

  static func time(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  static func id(_ number: Int) -> OperationReport.ID { .init(UInt64(number)) }

  /// Returns the report of an operation. The times of its steps are given in seconds; `nil` means
  /// that the operation did not take the step.
  static func report(
    _ number: Int, _ dependencies: [Int] = [], className: String = "Tile", queue: UInt64 = 1,
    added: Double? = 0, ready: Double?, started: Double?, finished: Double?,
    state: OperationState = .finished
  ) -> OperationReport {
    OperationReport(
      id: id(number), name: "tile \(number)", className: className, queue: .init(queue),
      state: state, dependencies: dependencies.map(id), added: added.map(time),
      becameReady: ready.map(time), started: started.map(time), finished: finished.map(time))
  }

  static func queue(_ number: UInt64, _ counts: StateCounts = StateCounts()) -> QueueReport {
    QueueReport(id: .init(number), name: "queue \(number)", counts: counts, width: 2)
  }

  static func update(_ second: Double, _ reports: [OperationReport] = []) -> Update {
    Update(time: time(second), queues: [queue(1)], changed: reports.sorted { $0.id < $1.id })
  }

  /// Returns the history of a recording that consists of these updates.
  static func history(_ updates: [Update], isFinished: Bool = true) throws -> RunHistory {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(hello))
    for update in updates { bytes += writer.add(.update(update)) }
    if isFinished { bytes += writer.finish() }
    return RunHistory(try reader(bytes))
  }

  /// Returns the history of a recording with a single update, at second 100.
  static func history(_ reports: [OperationReport]) throws -> RunHistory {
    try history([update(0), update(100, reports)])
  }

  static func reader(_ bytes: [UInt8]) throws -> RecordingReader {
    try RecordingReader(size: bytes.count) { offset, count in
      let start = max(0, min(offset, bytes.count))
      return Array(bytes[start..<min(bytes.count, start + count)])
    }
  }
}
