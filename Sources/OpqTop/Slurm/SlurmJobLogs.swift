// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands

/// The output files of jobs as log lines. The lines have the time at which they were read, because a file contains no
/// times.
struct SlurmJobLogs: Sendable {
  /// A file that must be read.
  struct Look: Sendable, Equatable {
    let operation: OperationReport.ID
    let file: SlurmOutputPart.File
    /// The position in the file from which it must be read, in bytes.
    let position: Int64
    /// The number of the log. If the output of an operation is hidden and shown again, its log has another number.
    let log: Int
  }

  private struct Log: Sendable {
    let number: Int
    var path: String?
    /// The position in the file after the last line that was read, in bytes.
    var position: Int64 = 0
    /// The number of lines of the log until now, also those that are not stored.
    var count: UInt64 = 0
    /// The sentence that was shown instead of output; `nil` if output was shown after it.
    var remark: String?
    /// Whether the file must be read again.
    var isOutdated = true
  }

  private var logs: [OperationReport.ID: Log] = [:]
  private var lastNumber = 0
  /// Whether a file is read. One file is read at a time.
  private var isReading = false

  /// Sets the operations whose output is shown. The logs of other operations are discarded.
  mutating func show(_ ids: Set<OperationReport.ID>) {
    logs = logs.filter { ids.contains($0.key) }
    for id in ids where logs[id] == nil {
      lastNumber += 1
      logs[id] = Log(number: lastNumber)
    }
  }

  /// Notes that the jobs may have written more output.
  mutating func noteNews() {
    for id in logs.keys { logs[id]?.isOutdated = true }
  }

  /// Returns the next file that must be read; `nil` if there is none, or while a file is read. After a result that is
  /// not `nil`, ``take(_:for:isOver:at:)`` must be called.
  ///
  /// - Parameter command: A function that returns the id of a job for commands; `nil` if the job has no output.
  /// - Returns: The file.
  mutating func nextLook(_ command: (OperationReport.ID) -> String?) -> Look? {
    guard !isReading else { return nil }
    for (id, log) in logs.sorted(by: { $0.key < $1.key }) where log.isOutdated {
      let known = log.path.map { SlurmOutputPart.File.path($0) }
      guard let file = known ?? command(id).map({ .ofJob($0) }) else { continue }
      logs[id]?.isOutdated = false
      isReading = true
      return Look(operation: id, file: file, position: log.position, log: log.number)
    }
    return nil
  }

  /// The operations whose output is shown, sorted by id.
  var shown: [OperationReport.ID] { logs.keys.sorted() }

  /// Notes a part of a file.
  ///
  /// - Parameters:
  ///   - part: The part, or the reason why it could not be read.
  ///   - look: The request.
  ///   - isOver: Whether the job has ended, so that a last line without a line feed is complete.
  ///   - now: The current time.
  /// - Returns: The new lines; `nil` if there are none.
  mutating func take(
    _ part: Result<SlurmOutputPart, SlurmAccessError>, for look: Look, isOver: Bool,
    at now: MonitorTime
  ) -> OperationLog? {
    isReading = false
    guard var log = logs[look.operation], log.number == look.log else { return nil }
    defer { logs[look.operation] = log }
    switch part {
    case .failure(let error):
      return remark("the output cannot be read: \(error)", &log, look.operation, at: now)
    case .success(let part):
      guard !part.path.isEmpty else {
        return remark(
          "Slurm no longer knows where the output of the job is, or the job has no output file",
          &log, look.operation, at: now)
      }
      guard let bytes = part.bytes else {
        return remark(
          "the file “\(part.path)” does not exist, cannot be read, or is not a regular file", &log,
          look.operation, at: now)
      }
      log.path = part.path
      return lines(bytes, at: part.position, isOver: isOver, &log, look.operation, at: now)
    }
  }

  /// Adds a sentence that is shown instead of output.
  ///
  /// - Returns: The line with the sentence; `nil` if the sentence is already shown, or if the output is not shown.
  mutating func note(
    _ sentence: String, about id: OperationReport.ID, at now: MonitorTime
  ) -> OperationLog? {
    guard var log = logs[id] else { return nil }
    defer { logs[id] = log }
    return remark(sentence, &log, id, at: now)
  }

  private func remark(
    _ sentence: String, _ log: inout Log, _ id: OperationReport.ID, at now: MonitorTime
  ) -> OperationLog? {
    guard log.remark != sentence else { return nil }
    log.remark = sentence
    let text = "opq-top: \(sentence)".beginning(LogLine.longestText)
    return append([LogLine(time: now, level: .notice, text: text)], &log, id)
  }

  private func lines(
    _ bytes: [UInt8], at position: Int64, isOver: Bool, _ log: inout Log,
    _ id: OperationReport.ID, at now: MonitorTime
  ) -> OperationLog? {
    var lines: [LogLine] = []
    func add(_ text: String, _ level: LogLine.Level) {
      lines.append(LogLine(time: now, level: level, text: text.beginning(LogLine.longestText)))
    }
    if position > log.position {
      add("opq-top: \(position - log.position) bytes of the output are left out", .notice)
    } else if position < log.position {
      add("opq-top: the output file was written again", .notice)
    }
    // A line without a line feed may continue later.
    let end = isOver ? bytes.count : bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    var parts = bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts.removeLast() }
    // A viewer stores only the last lines of a log.
    let excess = max(0, parts.count - OperationLog.lineLimit)
    log.count += UInt64(excess)
    for part in parts.dropFirst(excess) { add(String(decoding: part, as: UTF8.self), .info) }
    log.position = position + Int64(end)
    guard !lines.isEmpty else {
      // If the job has not written a line yet, a sentence says so.
      return log.count == 0 ? remark("the job has written no output", &log, id, at: now) : nil
    }
    log.remark = nil
    return append(lines, &log, id)
  }

  private func append(
    _ lines: [LogLine], _ log: inout Log, _ id: OperationReport.ID
  ) -> OperationLog {
    defer { log.count += UInt64(lines.count) }
    return OperationLog(of: id, first: log.count, lines: lines)
  }
}

extension String {
  /// Returns the beginning of the text that has at most a number of bytes.
  fileprivate func beginning(_ limit: Int) -> String {
    utf8.count <= limit ? self : String(decoding: utf8.prefix(limit - 3), as: UTF8.self)
  }
}
