// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite("The log lines that a viewer keeps") struct LogTailsTests {
  private static let id = OperationReport.ID(7)

  private static func log(_ numbers: Range<Int>, of id: OperationReport.ID = id) -> OperationLog {
    OperationLog(
      of: id, first: UInt64(numbers.lowerBound),
      lines: numbers.map {
        LogLine(
          time: MonitorTime(nanoseconds: Int64($0)), level: .info, text: "line \($0)")
      })
  }

  private static func tails(_ news: OperationLog...) -> LogTails {
    var tails = LogTails()
    tails.apply(news)
    return tails
  }

  @Test("New lines follow the known lines, and repeated lines are left out")
  func joins() {
    let tails = Self.tails(Self.log(0..<3), Self.log(3..<4), Self.log(1..<6), Self.log(0..<2))
    #expect(tails[Self.id] == Self.log(0..<6))
  }

  @Test("A viewer keeps the last 50 lines of an operation")
  func lineLimit() {
    let tails = Self.tails(Self.log(0..<30), Self.log(30..<80))
    #expect(tails[Self.id] == Self.log(30..<80))
    #expect(Self.tails(Self.log(0..<49), Self.log(49..<52))[Self.id] == Self.log(2..<52))
  }

  @Test("After a gap, only the lines after the gap are kept")
  func gap() {
    let tails = Self.tails(Self.log(0..<3), Self.log(10..<12))
    #expect(tails[Self.id] == Self.log(10..<12))
    #expect(tails[Self.id]?.droppedCount == 10)
  }

  @Test("An empty log is known, and does not replace lines")
  func empty() {
    let empty = OperationLog(of: Self.id, mayBeDropped: true)
    #expect(LogTails()[Self.id] == nil)
    #expect(Self.tails(empty)[Self.id] == empty)
    #expect(Self.tails(Self.log(0..<2), empty)[Self.id] == Self.log(0..<2))
    #expect(Self.tails(empty, Self.log(0..<2))[Self.id] == Self.log(0..<2))
  }

  @Test("The operations with the oldest last lines are removed if all lines exceed the limit")
  func byteLimit() {
    var tails = LogTails(byteLimit: 20_000)
    for number in 0..<1_000 {
      let id = OperationReport.ID(UInt64(number))
      tails.apply([Self.log(number..<number + 2, of: id)])
      #expect(tails.byteCount <= 20_000)
    }
    #expect(tails[.init(999)] != nil && tails[.init(0)] == nil)
    #expect(tails.all.map(\.operation.rawValue) == Array(1_000 - UInt64(tails.all.count)..<1_000))
    #expect(tails.answer(about: .init(0)) == OperationLog(of: .init(0), mayBeDropped: true))
  }

  @Test("A process state keeps lines until a complete update, and has them in its complete update")
  func processState() {
    var state = ProcessState()
    var update = Update(time: MonitorTime(nanoseconds: 1))
    update.logs = [Self.log(0..<3)]
    state.apply(update)
    #expect(state.latest?.logs == [])
    #expect(state.whole?.logs == [Self.log(0..<3)])
    update.logs = [Self.log(3..<4)]
    state.apply(update)
    #expect(state.logs[Self.id] == Self.log(0..<4))
    state.apply(update, isWhole: true)
    #expect(state.logs[Self.id] == Self.log(3..<4))
  }
}
