// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A table with a line for each operation, in the format of RFC 4180. Characters that control a terminal are
/// escaped as in the lines of `--tsv`, so that each line of the file is a record. Text that a spreadsheet
/// would read as a formula is escaped too. Export.md describes the columns.
struct OperationsCSV: RunExport {
  private let run: ExportedRun

  init(_ run: ExportedRun) { self.run = run }

  private typealias Value = @Sendable (OperationReport, ExportedRun) -> String?

  private static let columns: [(name: String, value: Value)] = [
    ("id", { report, _ in "\(report.id.rawValue)" }),
    ("name", { report, _ in text(report.name) }),
    ("class", { report, _ in text(report.className) }),
    ("queue", { text($1.history.name(of: $0.queue)) }),
    ("state", { report, _ in report.state.rawValue }),
    ("priority", { report, _ in "\(report.priority.rawValue)" }),
    ("added", { time($0.added, $1) }),
    ("ready", { time($0.becameReady, $1) }),
    ("started", { time($0.started, $1) }),
    ("cancel_requested", { time($0.cancelRequested, $1) }),
    ("finished", { time($0.finished, $1) }),
    ("dependency_wait_seconds", { report, _ in report.dependencyWait.map(seconds) }),
    ("slot_wait_seconds", { report, _ in report.slotWait.map(seconds) }),
    ("work_seconds", { report, _ in report.work.map(seconds) }),
    ("on_critical_path", { $1.pathOperations.contains($0.id) ? "true" : "false" }),
    (
      "dependencies",
      { report, _ in report.dependencies.map { "\($0.rawValue)" }.joined(separator: " ") }
    ),
    ("error", { report, _ in report.errorText.map(text) }),
    ("cancellation", { $1.cancellations[$0.id].map(text) }),
    ("kind", { report, _ in text(report.kind) }),
    ("attempts", { report, _ in report.attempts.map { "\($0.number)" } }),
    ("progress", { report, _ in report.progress?.numbers }),
    ("status", { report, _ in report.statusText.map(text) }),
  ]

  func write<Failure: Error>(to output: (String) throws(Failure) -> Void) throws(Failure) {
    try output(Self.columns.map(\.name).joined(separator: ",") + "\r\n")
    for report in run.operations {
      let values = Self.columns.map { Self.quoted($0.value(report, run) ?? "") }
      try output(values.joined(separator: ",") + "\r\n")
    }
  }

  /// Returns a text that a spreadsheet does not read as a formula. If the text would be a formula or begins
  /// with an apostrophe, an apostrophe is put before it.
  private static func text(_ text: String) -> String {
    let escaped = EscapedText.escaped(text)
    return escaped.first.map { "=+-@'".contains($0) } == true ? "'\(escaped)" : escaped
  }

  /// Returns the value in quotation marks if it contains a delimiter; otherwise the value itself.
  private static func quoted(_ escaped: String) -> String {
    guard escaped.utf8.contains(where: { ",\" '".utf8.contains($0) }) else { return escaped }
    return "\"\(escaped.replacing("\"", with: "\"\""))\""
  }

  /// Returns a moment as seconds since the recording began; `nil` if the moment is unknown.
  private static func time(_ time: MonitorTime?, _ run: ExportedRun) -> String? {
    time.map { seconds($0 - run.history.start) }
  }

  /// Returns the seconds of a duration with nine decimal places.
  private static func seconds(_ duration: Duration) -> String {
    let nanoseconds = duration.saturatedNanoseconds
    let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
    let digits = String(rest)
    let sign = nanoseconds < 0 ? "-" : ""
    return "\(sign)\(whole).\(String(repeating: "0", count: 9 - digits.count))\(digits)"
  }
}
