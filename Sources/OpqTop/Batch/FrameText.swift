// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol

/// Formats frames as text: a line of counts, and then the queues, the operations and the warnings.
/// The text contains no escape sequences, even if the names of operations do.
struct FrameText {
  /// The printed fields of each operation, in this order; `nil` for the default fields.
  let fields: [BatchFrame.Operation.Field]?
  /// Whether the text may contain characters other than ASCII.
  let isUnicode: Bool

  /// Returns the text of a frame. The text ends with an empty line.
  func text(of frame: BatchFrame) -> String {
    var lines = [header(of: frame)]
    var queues = TextTable(Self.queueColumns, isUnicode: isUnicode)
    for queue in frame.queues { queues.add(Self.cells(of: queue)) }
    lines += queues.lines
    var operations = TextTable(
      fields?.map(Self.column) ?? Self.operationColumns, isUnicode: isUnicode)
    for operation in frame.operations { operations.add(cells(of: operation)) }
    lines += operations.lines
    for warning in frame.warnings { lines.append(line(of: warning)) }
    return lines.joined(separator: "\n") + "\n\n"
  }

  private static let queueColumns: [TextTable.Column] = [
    .init(title: "QUEUE", width: 12), .init(title: "WIDTH", width: 9, isRightAligned: true),
    .init(title: "TOTAL", width: 7, isRightAligned: true),
    .init(title: "WAIT", width: 7, isRightAligned: true),
    .init(title: "READY", width: 7, isRightAligned: true),
    .init(title: "EXEC", width: 7, isRightAligned: true),
    .init(title: "FAILED", width: 6, isRightAligned: true),
    .init(title: "FINISHED", width: 8, isRightAligned: true),
    .init(title: "CANCELLED", width: 9, isRightAligned: true),
  ]

  private static let operationColumns: [TextTable.Column] = [
    .init(title: "ID", width: 8, isRightAligned: true), .init(title: "STATE", width: 10),
    .init(title: "QUEUE", width: 12), .init(title: "DEPS", width: 7, isRightAligned: true),
    .init(title: "SECONDS", width: 9, isRightAligned: true), .init(title: "OPERATION", width: 0),
  ]

  private static func column(of field: BatchFrame.Operation.Field) -> TextTable.Column {
    let (width, isRightAligned) =
      switch field {
      case .id: (8, true)
      case .state: (10, false)
      case .queue, .className, .kind, .name, .error, .cancellation, .status: (12, false)
      case .priority, .unmetDependencyCount: (5, true)
      case .attempts, .progress: (8, true)
      case .dependencies: (7, false)
      case .seconds, .secondsInState, .delay: (9, true)
      }
    return .init(
      title: field.rawValue.uppercased(), width: width, isRightAligned: isRightAligned)
  }

  /// Returns the text with the sums of several processes at one moment. The sums include processes
  /// that have ended. The text ends with an empty line.
  func sum(of pictures: [MonitorPicture], at time: BatchFrame.Time) -> String {
    let known = pictures.filter { $0.processID != nil }
    let counts = known.reduce(StateCounts()) { $0 + $1.counts }
    let lost = known.reduce(0) { $0 + $1.lostChanges }
    let noun = known.count == 1 ? "process" : "processes"
    let words = Self.words(counts, lostChanges: lost)
    return "\(time.wallClock) operations of \(known.count) \(noun),\(words)\n\n"
  }

  private func header(of frame: BatchFrame) -> String {
    "\(frame.time.wallClock) \(printable(frame.process.name))[\(frame.process.pid)]"
      + (frame.process.host.map { " on \(printable($0))" } ?? "")
      + Self.words(frame.counts, lostChanges: frame.lostChanges)
      + (frame.unstartedCompletionBlockCount.map { "; completion blocks not begun \($0)" } ?? "")
  }

  private static func words(_ counts: StateCounts, lostChanges: UInt64) -> String {
    """
     total \(counts.total): waiting \(counts.waiting), ready \(counts.ready) \
    (\(counts.held) held), executing \(counts.executing), \
    finished \(counts.finished) (\(counts.failed) failed), cancelled \(counts.cancelled) \
    (+\(counts.cancelling) cancelling); state changes not recorded \(lostChanges)
    """
  }

  private static func cells(of queue: QueueReport) -> [String] {
    let counts = queue.counts
    return [
      queue.name + (queue.startLimit.map { " (\($0.text))" } ?? ""),
      queue.isSuspended ? "suspended" : queue.width.map(String.init) ?? "auto",
      "\(counts.total)", "\(counts.waiting)", "\(counts.ready)", "\(counts.executing)",
      "\(counts.failed)", "\(counts.finished)", "\(counts.cancelled)",
    ]
  }

  private func cells(of operation: BatchFrame.Operation) -> [String] {
    if let fields {
      return fields.map { $0 == .id ? "\(operation.id)" : operation.value(of: $0) ?? "-" }
    }
    let all = operation.dependencies.count
    return [
      "\(operation.id)", operation.state.rawValue, operation.queue,
      "\(all - min(all, operation.unmetDependencyCount))/\(all)",
      operation.seconds.map(Self.thousandths) ?? "-",
      operation.name.isEmpty ? operation.kind ?? operation.className : operation.name,
    ]
  }

  /// Returns the line for a warning, such as `! slot-deadlock of #4, #5 awaiting #6 in db: 2`. The
  /// line names at most ten operations.
  private func line(of warning: BatchFrame.Warning) -> String {
    func named(_ ids: [OperationReport.ID]) -> String {
      let names = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
      return ids.count > 10 ? "\(names), ..." : names
    }
    var line = "! \(warning.kind.rawValue)"
    if !warning.operations.isEmpty { line += " of \(named(warning.operations))" }
    if !warning.awaited.isEmpty { line += " waiting for \(named(warning.awaited))" }
    if let queue = warning.queue { line += " in \(printable(queue))" }
    line += ": \(warning.count)"
    if let seconds = warning.seconds { line += ", for \(Self.thousandths(seconds)) s" }
    return line
  }

  private func printable(_ text: String) -> String {
    TerminalText.printable(text, isUnicode: isUnicode)
  }

  /// Returns a number with three decimal places, so that decimal points are aligned.
  static func thousandths(_ seconds: Double) -> String {
    let count = Int64((seconds * 1_000).rounded())
    let decimals = "\(count % 1_000 + 1_000)".dropFirst()
    return "\(count / 1_000).\(decimals)"
  }
}
