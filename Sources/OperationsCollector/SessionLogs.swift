// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The log lines of one session: which of them the viewer requests, and which it has received.
struct SessionLogs {
  /// The operations whose lines the viewer requests; `nil` if it requests none.
  private(set) var selection: OperationLogStore.Selection?

  /// The sequence number up to which the viewer has received the lines of the operations in `answered`
  /// or, if it requests all lines, of all operations.
  private var sent: UInt64 = 0
  /// The requested operations whose stored lines were sent.
  private var answered: Set<OperationID> = []

  private let store: OperationLogStore

  init(_ interest: Interest.Logs, from store: OperationLogStore = .shared) {
    self.store = store
    change(to: interest)
  }

  /// Changes what the viewer requests. The viewer receives the stored lines of operations that it did
  /// not request before.
  mutating func change(to interest: Interest.Logs) {
    let old = selection
    switch interest {
    case .all:
      selection = .all
      if old != .all { sent = 0 }
    case .operations(let ids):
      let ids = Set(ids.map { OperationID($0) })
      selection = ids.isEmpty ? nil : .operations(ids)
      if old == .all { answered = [] }
      answered.formIntersection(ids)
    }
  }

  /// Whether the viewer requests lines that it has not received.
  var hasNews: Bool {
    switch selection {
    case nil: return false
    case .all?: return store.hasLines(of: .all, after: sent)
    case .operations(let ids)?:
      return answered != ids || store.hasLines(of: .operations(ids), after: sent)
    }
  }

  /// Returns the lines that the viewer has not received. Each operation that the viewer has not
  /// requested before has a log, also if there are no lines.
  mutating func take() -> [OperationLog] {
    guard let selection else { return [] }
    let end = store.sequence
    defer { sent = end }
    switch selection {
    case .all:
      answered = []
      return logs(of: .all, after: sent, upTo: end)
    case .operations(let ids):
      let new = ids.subtracting(answered)
      let known = answered
      answered = ids
      var logs = logs(of: .operations(known), after: sent, upTo: end)
      guard !new.isEmpty else { return logs }
      let stored = self.logs(of: .operations(new), after: 0, upTo: end)
      let missing = new.subtracting(stored.map { OperationID($0.operation) })
      let mayBeDropped = store.hasDroppedOperations
      logs += stored
      logs += missing.map { OperationLog(of: .init($0.rawValue), mayBeDropped: mayBeDropped) }
      return logs.sorted { $0.operation < $1.operation }
    }
  }

  private func logs(
    of selection: OperationLogStore.Selection, after start: UInt64, upTo end: UInt64
  ) -> [OperationLog] {
    guard end > start else { return [] }
    return store.lines(of: selection, in: start + 1...end).map { OperationLog($0) }
  }
}

extension OperationLogStore.Selection {
  /// Returns the operations of two selections together.
  func union(_ other: Self) -> Self {
    switch (self, other) {
    case (.all, _), (_, .all): .all
    case (.operations(let ids), .operations(let others)): .operations(ids.union(others))
    }
  }
}

extension OperationID {
  fileprivate init(_ id: OperationReport.ID) { self.init(rawValue: id.rawValue) }
}

extension OperationLog {
  fileprivate init(_ lines: OperationLogStore.Lines) {
    self.init(
      of: .init(lines.operation.rawValue), first: lines.first,
      lines: lines.lines.map { LogLine($0) })
  }
}

extension LogLine {
  fileprivate init(_ line: OperationLogLine) {
    let level: Level =
      switch line.level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
    self.init(time: MonitorTime(nanoseconds: line.time), level: level, text: line.text)
  }
}
