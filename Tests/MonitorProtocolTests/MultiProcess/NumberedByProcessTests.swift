// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("Ids with the number of their process")
struct NumberedByProcessTests {
  private typealias ID = OperationReport.ID

  @Test func anIDWithoutAProcessNumberIsShownWithoutIt() {
    #expect("\(ID(1042))" == "#1042")
    #expect(ID(1042).processNumber == 0)
    // An id that is too large for a process to use has no process number.
    #expect("\(ID(.max))" == "#18446744073709551615")
    #expect(ID(.max).withinProcess == ID(.max))
  }

  @Test func anIDWithAProcessNumberIsShownAndConvertedBack() throws {
    for number in ProcessReport.numbers {
      let id = try #require(ID(1042).numbered(number))
      #expect("\(id)" == "\(number)#1042")
      #expect(id.processNumber == number && id.withinProcess == ID(1042))
    }
    let queue = try #require(QueueReport.ID(4).numbered(16))
    #expect(queue.processNumber == 16 && queue.withinProcess == QueueReport.ID(4))
  }

  @Test func aLargeIDCannotBeNumbered() {
    #expect(ID(1 << 56 - 1).numbered(16)?.processNumber == 16)
    #expect(ID(1 << 56).numbered(1) == nil)
    #expect(ID(.max).numbered(16) == nil)
  }

  @Test("With one process, such ids are ordinary text")
  func wordsOfOne() throws {
    func operation(_ name: String) -> OperationReport {
      OperationReport(id: ID(7), name: name, className: "", queue: .init(1), state: .ready)
    }
    func matches(_ text: String, _ name: String) throws -> Bool {
      try OperationFilter(text).matches(
        operation(name), queueName: "", at: MonitorTime(nanoseconds: 0))
    }
    #expect(try matches("2#7", "tile 12#7") && matches("2#", "tile 2#") && matches("#7", ""))
    #expect(try !matches("2#7", "tile 2#8") && !matches("2#", "tile 2") && !matches("2#7", ""))
  }

  @Test("Words with a number before the sign are ids, and others names")
  func words() throws {
    let operation = OperationReport(
      id: try #require(ID(7).numbered(2)), name: "2#x 17#7", className: "", queue: .init(1),
      state: .ready)
    func matches(_ text: String) throws -> Bool {
      try OperationFilter(text).matches(
        operation, queueName: "", at: MonitorTime(nanoseconds: 0))
    }
    for text in ["#7", "2#7", "2#", "!1#", "2#x", "17#7", "\"2#x\"", "3#7|2#7"] {
      #expect(try matches(text), "\(text)")
    }
    for text in ["#8", "1#7", "1#", "!2#", "\"2#7\"", "2#07x"] {
      #expect(try !matches(text), "\(text)")
    }
    #expect(throws: OperationFilterError.self) { try OperationFilter("2#72057594037927936") }
  }
}
