// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
package import RunAnalysis

/// A recording of three operations for exports. The second operation waited for the first one, and
/// one operation has a hostile name.
package enum ExportScene {
  package static let hostile = "\"a\", <b onload='x'>&amp;\n\u{1B}[2J\\ \u{202E}"

  package static func time(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  package static let reports: [OperationReport] = [
    OperationReport(
      id: .init(1), name: hostile, className: "Fetch", queue: .init(1), state: .finished,
      added: time(1), becameReady: time(1), started: time(1.5), finished: time(2)),
    OperationReport(
      id: .init(2), name: "", className: "Parse", queue: .init(1), state: .cancelled,
      priority: .high, dependencies: [.init(1), .init(9)], added: time(1), becameReady: time(2),
      started: time(2.25), cancelRequested: time(2.5), finished: time(3)),
    OperationReport(
      id: .init(3), name: "poll", className: "Poll", queue: .init(2), state: .executing,
      dependencies: [.init(2)], started: time(3)),
  ]

  /// Returns the reports of failed operations: the second one has a hostile error, and the others have the
  /// same error.
  package static func failures(_ count: Int) -> [OperationReport] {
    (1...UInt64(count)).map { number in
      var report = OperationReport(
        id: .init(number), name: "file \(number)", className: "Fetch", queue: .init(1),
        state: .failed, added: time(1), becameReady: time(1), started: time(1.5),
        finished: time(2 + Double(number) / 1_000))
      report.errorText = number == 2 ? "=1 \(hostile)" : "disk full"
      return report
    }
  }

  package static func bytes(_ reports: [OperationReport] = reports, isFinished: Bool = true)
    -> [UInt8]
  {
    var writer = RecordingWriter()
    var update = Update(time: time(1))
    update.queues = [
      QueueReport(id: .init(1), name: hostile, width: 2), QueueReport(id: .init(2), name: "io"),
    ]
    var last = update
    last.time = time(4)
    last.changed = reports
    last.warnings = [
      MonitorWarning(kind: .slow, operations: [.init(3)], title: hostile, queue: .init(1), count: 1)
    ]
    let bytes =
      writer.add(.hello(ReplayScene.hello)) + writer.add(.update(update))
      + writer.add(.update(last))
    return isFinished ? bytes + writer.finish() : bytes
  }

  package static func history(_ bytes: [UInt8] = bytes()) throws -> RunHistory {
    RunHistory(try ReplayScene.reader(bytes))
  }

  /// Returns a recording with impossible times and numbers.
  ///
  /// - Parameter variant: A number from 0 to 7. Each of its three bits selects whether one of the
  ///   times is far in the future, far in the past or ordinary.
  /// - Returns: The complete recording.
  package static func hostileNumbers(_ variant: Int) -> [UInt8] {
    let far = MonitorTime(nanoseconds: variant & 1 == 0 ? 1 << 61 : -1 << 61)
    let near = MonitorTime(nanoseconds: variant & 2 == 0 ? -1 << 61 : 2_000_000_000)
    let end = MonitorTime(nanoseconds: variant & 4 == 0 ? 3_000_000_000 : 1 << 61)
    let ids = [1, 2, UInt64.max]
    let reports = ids.map { number in
      OperationReport(
        id: .init(number), name: "n", className: "C \(number)", queue: .init(number),
        state: .finished, dependencies: ids.map { .init($0) }, dependentCount: 1 << 40,
        added: far, becameReady: near, started: near, cancelRequested: far, finished: far)
    }
    var update = Update(time: time(1))
    update.queues = ids.map { number in
      QueueReport(
        id: .init(number), name: "", counts: StateCounts(executing: 1 << 40, total: 1 << 40),
        width: 1 << 40)
    }
    var last = update
    (last.time, last.changed, last.lostChanges) = (end, reports, .max)
    var writer = RecordingWriter()
    return writer.add(.hello(ReplayScene.hello)) + writer.add(.update(update))
      + writer.add(.update(last)) + writer.finish()
  }

  /// Exports a recording, and returns the exported text.
  package static func text(_ format: ExportFormat, filter: String? = nil) throws -> String {
    let filter = try filter.map { try OperationFilter($0) }
    var text = ""
    format.export(ExportedRun(try history(), filter: filter)).write { text += $0 }
    return text
  }
}
