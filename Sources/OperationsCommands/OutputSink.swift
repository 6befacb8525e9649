// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The destination of the bytes that are read from a pipe of a command.
struct OutputSink: Sendable {
  /// The collected bytes.
  private(set) var collected: [UInt8] = []
  /// Whether the limit of the collected bytes was exceeded.
  private(set) var isCut = false

  /// Where each line goes.
  private struct Delivery {
    let report: CommandReport
    let closure: (@Sendable (String) -> Void)?

    /// Passes a line on, and stores it in `last` if it can be a status.
    func deliver(_ line: String, _ last: inout String?) {
      report.log(line)
      if CommandReport.isStatus(line) { last = line }
      closure?(line)
    }
  }

  private let limit: Int
  private let delivery: Delivery
  private var lines = OutputLines()

  init(_ output: CommandOutput, _ report: CommandReport) {
    switch output {
    case .collected(let limit):
      self.limit = max(0, limit)
      delivery = Delivery(report: report, closure: nil)
    case .lines(let closure):
      limit = 0
      delivery = Delivery(report: report, closure: closure)
    case .file, .discarded:
      limit = 0
      delivery = Delivery(report: report, closure: nil)
    }
  }

  /// Takes bytes in the order in which the command has written them.
  mutating func take(_ bytes: ArraySlice<UInt8>) {
    if delivery.closure == nil {
      let space = limit - collected.count
      collected += bytes.prefix(space)
      if bytes.count > space { isCut = true }
    }
    var last: String?
    lines.take(bytes) { [delivery] in delivery.deliver($0, &last) }
    if let last { delivery.report.reportStatus(last) }
  }

  /// Takes the last line if it has no line feed.
  mutating func end() {
    var last: String?
    lines.end { [delivery] in delivery.deliver($0, &last) }
    if let last { delivery.report.reportStatus(last) }
  }
}
