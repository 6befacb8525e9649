// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The last log lines of operations, as a viewer or a recording has received them.
///
/// The memory is limited: each operation has at most ``OperationLog/lineLimit`` lines, and if all lines
/// together exceed the limit, the operations whose last line is the oldest are removed.
package struct LogTails: Sendable, Equatable {
  /// The maximum memory in bytes. It is larger than the memory that a process uses for log lines.
  package static let usualByteLimit = 8 << 20

  private var logs: [OperationReport.ID: OperationLog] = [:]
  private let byteLimit: Int
  /// The approximate memory of all lines.
  package private(set) var byteCount = 0
  /// Whether operations were removed because of the limit.
  private var hasRemoved = false

  /// Creates a store without lines.
  package init(byteLimit: Int = LogTails.usualByteLimit) { self.byteLimit = byteLimit }

  /// All known logs, sorted by operation.
  package var all: [OperationLog] { logs.values.sorted { $0.operation < $1.operation } }

  /// Whether there are no logs.
  package var isEmpty: Bool { logs.isEmpty }

  /// Returns the log of an operation. The result is `nil` if nothing is known about it. If the process
  /// has reported that there are no lines, the log is empty.
  package subscript(id: OperationReport.ID) -> OperationLog? { logs[id] }

  /// Adds the new lines of an update.
  package mutating func apply(_ news: [OperationLog]) {
    for log in news { add(log) }
    if byteCount > byteLimit { removeOldest() }
  }

  /// Removes all logs, and returns them sorted by operation.
  package mutating func takeAll() -> [OperationLog] {
    defer { self = LogTails(byteLimit: byteLimit) }
    return all
  }

  /// Returns the log of an operation as an answer to a request. If nothing is known, the log is empty.
  package func answer(about id: OperationReport.ID) -> OperationLog {
    logs[id] ?? OperationLog(of: id, mayBeDropped: hasRemoved)
  }

  private mutating func add(_ news: OperationLog) {
    let old = logs[news.operation]
    byteCount -= old.map(Self.size) ?? 0
    var log = Self.joined(old, news)
    let excess = log.lines.count - OperationLog.lineLimit
    if excess > 0 { log = log.from(log.first + UInt64(excess)) }
    byteCount += Self.size(of: log)
    logs[news.operation] = log
  }

  /// Appends lines to a log. Lines that the log has, or that are older, are left out. If lines between
  /// the log and the new lines are missing, only the new lines are kept, so that a log never has a gap.
  private static func joined(_ old: OperationLog?, _ news: OperationLog) -> OperationLog {
    guard var log = old, !log.lines.isEmpty else { return news }
    guard news.first <= log.end else { return news }
    log.lines += news.from(log.end).lines
    return log
  }

  /// Removes the operations whose last line is the oldest, until a quarter of the memory is free, so that
  /// the logs are rarely sorted.
  private mutating func removeOldest() {
    func time(_ log: OperationLog) -> MonitorTime {
      log.lines.last?.time ?? MonitorTime(nanoseconds: .min)
    }
    for log in logs.values.sorted(by: { time($0) < time($1) }) {
      guard byteCount > byteLimit / 4 * 3, logs.count > 1 else { return }
      logs[log.operation] = nil
      byteCount -= Self.size(of: log)
      hasRemoved = true
    }
  }

  private static func size(of log: OperationLog) -> Int {
    log.lines.reduce(160) { $0 + 80 + $1.text.utf8.count }
  }
}
