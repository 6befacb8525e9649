// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore
import Testing

@testable import OperationsCollector

/// Tests of which log lines a session sends.
@Suite("The log lines of a session") struct SessionLogsTests {
  private let store = OperationLogStore()
  private let one = BlockOperation {}
  private let two = BlockOperation {}

  private func id(_ operation: Operation) -> OperationReport.ID { .init(operation.id.rawValue) }

  @Test("The limits of the store are those that viewers know")
  func limits() {
    #expect(OperationLogStore.lineLimit == OperationLog.lineLimit)
    #expect(OperationLogLine.longestText == LogLine.longestText)
  }

  private func add(_ text: String, to operation: Operation, _ level: OperationLogLevel = .info) {
    store.append(text, level: level, of: operation)
  }

  /// Returns the taken lines as text: the operation, the number of the first line, and the lines.
  private func take(_ logs: inout SessionLogs) -> [String] {
    logs.take().map { log in
      let name = log.operation == id(one) ? "one" : "two"
      return "\(name) \(log.first): \(log.lines.map(\.text).joined(separator: ","))"
    }
  }

  @Test("A viewer receives the stored lines of an operation, and then only new lines")
  func newLines() {
    var logs = SessionLogs(.operations([id(one)]), from: store)
    add("a", to: one)
    add("x", to: two)
    #expect(logs.hasNews && take(&logs) == ["one 0: a"])
    #expect(!logs.hasNews && take(&logs) == [])
    add("y", to: two)
    #expect(!logs.hasNews)
    add("b", to: one)
    add("c", to: one)
    #expect(logs.hasNews && take(&logs) == ["one 1: b,c"])
  }

  @Test("A viewer receives an empty log of an operation that has logged nothing")
  func emptyLog() {
    var logs = SessionLogs(.operations([id(one)]), from: store)
    #expect(logs.hasNews)
    #expect(logs.take() == [OperationLog(of: id(one))])
    #expect(!logs.hasNews && take(&logs) == [])
    add("a", to: one)
    #expect(take(&logs) == ["one 0: a"])
  }

  @Test("The log of an operation whose lines were dropped says that they may be missing")
  func droppedLog() {
    let store = OperationLogStore(byteLimit: 1)
    store.append("a", level: .info, of: one)
    store.append("b", level: .info, of: two)
    var logs = SessionLogs(.operations([id(one)]), from: store)
    #expect(logs.take() == [OperationLog(of: id(one), mayBeDropped: true)])
  }

  @Test("A request for another operation adds its stored lines, and a repeated request all lines")
  func changedRequests() {
    add("a", to: one)
    add("x", to: two)
    var logs = SessionLogs(.operations([id(one)]), from: store)
    #expect(take(&logs) == ["one 0: a"])
    logs.change(to: .operations([id(one), id(two)]))
    #expect(logs.hasNews && take(&logs) == ["two 0: x"])
    logs.change(to: .operations([id(two)]))
    add("b", to: one)
    #expect(!logs.hasNews && take(&logs) == [])
    logs.change(to: .operations([id(one), id(two)]))
    #expect(take(&logs) == ["one 0: a,b"])
  }

  @Test("A viewer of all lines receives all stored lines, and then only new lines")
  func allLines() {
    add("a", to: one)
    add("x", to: two)
    var logs = SessionLogs(.all, from: store)
    #expect(logs.hasNews && take(&logs) == ["one 0: a", "two 0: x"])
    #expect(!logs.hasNews && take(&logs) == [])
    add("y", to: two)
    // The same request again does not repeat lines, as that of a recorder at its end.
    logs.change(to: .all)
    #expect(logs.hasNews && take(&logs) == ["two 1: y"])
    logs.change(to: .operations([]))
    #expect(!logs.hasNews && take(&logs) == [] && logs.selection == nil)
    logs.change(to: .all)
    #expect(take(&logs) == ["one 0: a", "two 0: x,y"])
  }

  @Test("Each level has the level of the same name in messages")
  func levels() {
    for level in OperationLogLevel.allCases { add("a", to: one, level) }
    var logs = SessionLogs(.all, from: store)
    #expect(logs.take().first?.lines.map(\.level) == LogLine.Level.allCases)
    #expect(LogLine.Level.allCases.map(\.rawValue) == OperationLogLevel.allCases.map { "\($0)" })
  }

  @Test("Lines that were dropped before they were sent leave a gap in the numbers")
  func gap() throws {
    var logs = SessionLogs(.operations([id(one)]), from: store)
    add("first", to: one)
    _ = logs.take()
    for number in 1...100 { add("\(number)", to: one) }
    let log = try #require(logs.take().first)
    #expect(log.first == 51 && log.lines.count == 50 && log.lines.last?.text == "100")
  }
}
