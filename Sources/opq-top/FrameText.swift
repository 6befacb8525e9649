// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol

/// Frames as text: one line of what counts, then the queues, the operations, and what is warned of.
/// There is no escape sequence in it, whatever names say.
enum FrameText {
  /// The text of one frame, ending with an empty line.
  static func text(of frame: Frame) -> String {
    var lines = [header(of: frame)]
    lines.append(
      row(
        ["QUEUE", "WIDTH", "TOTAL", "WAIT", "READY", "EXEC", "FINISHED", "CANCELLED"],
        in: queueColumns))
    for queue in frame.queues { lines.append(line(of: queue)) }
    lines.append(
      row(["ID", "STATE", "QUEUE", "DEPS", "SECONDS", "OPERATION"], in: operationColumns))
    for operation in frame.operations { lines.append(line(of: operation)) }
    for warning in frame.warnings { lines.append(line(of: warning)) }
    return lines.joined(separator: "\n") + "\n\n"
  }

  /// How wide each column is; negative where it is right-aligned.
  private static let queueColumns = [12, -9, -7, -7, -7, -7, -8, -9]
  private static let operationColumns = [-8, 10, 12, -7, -9, 0]

  private static func header(of frame: Frame) -> String {
    let counts = frame.counts
    return
      "\(frame.time.wallClock) \(TerminalText.printable(frame.process.name))[\(frame.process.pid)]"
      + " total \(counts.total): waiting \(counts.waiting), ready \(counts.ready)"
      + " (\(counts.held) held), executing \(counts.executing),"
      + " finished \(counts.finished), cancelled \(counts.cancelled)"
      + " (+\(counts.cancelling) cancelling); lost \(frame.lostChanges)"
  }

  private static func line(of queue: QueueReport) -> String {
    let counts = queue.counts
    let width = queue.isSuspended ? "suspended" : queue.width.map(String.init) ?? "auto"
    return row(
      [
        TerminalText.printable(queue.name), width, "\(counts.total)", "\(counts.waiting)",
        "\(counts.ready)",
        "\(counts.executing)", "\(counts.finished)", "\(counts.cancelled)",
      ], in: queueColumns)
  }

  private static func line(of operation: Frame.Operation) -> String {
    let all = operation.dependencies.count
    let seconds = operation.secondsInState.map(thousandths) ?? "-"
    return row(
      [
        "\(operation.id)", operation.state.rawValue, TerminalText.printable(operation.queue),
        "\(all - min(all, operation.unmetDependencyCount))/\(all)", seconds,
        TerminalText.printable(operation.name.isEmpty ? operation.className : operation.name),
      ], in: operationColumns)
  }

  /// Such as `! slot-deadlock of #4, #5 awaiting #6 in db: 2`; no more than ten operations are named.
  private static func line(of warning: Frame.Warning) -> String {
    func named(_ ids: [OperationReport.ID]) -> String {
      let names = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
      return ids.count > 10 ? "\(names), ..." : names
    }
    var line = "! \(warning.kind.rawValue)"
    if !warning.operations.isEmpty { line += " of \(named(warning.operations))" }
    if !warning.awaited.isEmpty { line += " awaiting \(named(warning.awaited))" }
    if let queue = warning.queue { line += " in \(TerminalText.printable(queue))" }
    line += ": \(warning.count)"
    if let seconds = warning.seconds { line += ", for \(thousandths(seconds)) s" }
    return line
  }

  /// A number with three decimals, so that points stand below each other.
  private static func thousandths(_ seconds: Double) -> String {
    let count = Int64((seconds * 1_000).rounded())
    let decimals = "\(count % 1_000 + 1_000)".dropFirst()
    return "\(count / 1_000).\(decimals)"
  }

  private static func row(_ cells: [String], in columns: [Int]) -> String {
    let padded = zip(cells, columns).map { cell, width in
      let padding = String(repeating: " ", count: max(0, abs(width) - cell.count))
      return width < 0 ? padding + cell : cell + padding
    }
    var line = padded.joined(separator: " ")
    while line.last == " " { line.removeLast() }
    return line
  }
}
