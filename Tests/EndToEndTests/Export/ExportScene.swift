// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis

@testable import opq_top

/// A run of three operations, of which the second waited for the first, and one of whose names is meant to
/// do harm.
enum ExportScene {
  static let hostile = "\"a\", <b onload='x'>&amp;\n\u{1B}[2J\\ \u{202E}"

  static func time(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  static let reports: [OperationReport] = [
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

  static func bytes(_ reports: [OperationReport] = reports, isFinished: Bool = true) -> [UInt8] {
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

  static func history(_ bytes: [UInt8] = bytes()) throws -> RunHistory {
    RunHistory(try ReplayScene.reader(bytes))
  }

  /// What an export writes.
  static func text(_ format: ExportFormat, filter: String? = nil) throws -> String {
    let filter = try filter.map { try OperationFilter($0) }
    var text = ""
    format.export(ExportedRun(try history(), filter: filter)).write { text += $0 }
    return text
  }
}
