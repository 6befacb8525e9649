// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests of the messages with log lines, also of messages that another program could send.
@Suite("Log lines in messages") struct OperationLogWireTests {
  private static func update(_ frame: [UInt8]) throws -> Update {
    guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else {
      throw WireError("it is something else")
    }
    var assembler = UpdateAssembler()
    return try #require(try assembler.take(part))
  }

  private static func interest(_ interest: Interest) throws -> Interest {
    let frame = ViewerMessage.watch(interest, interval: .seconds(1)).encoded()
    guard case .watch(let arrived, _) = try ViewerMessage(decoding: frame) else {
      throw WireError("it is something else")
    }
    return arrived
  }

  /// Returns the bytes of a line in an update.
  private static func line(_ text: String, level: UInt64 = 6, time: Int64 = 1) -> [UInt8] {
    HandMade.message(
      3, HandMade.signed(1, time), HandMade.number(2, level), HandMade.text(3, text))
  }

  private static func log(first: UInt64, _ lines: [UInt8]) -> [UInt8] {
    HandMade.message(29, HandMade.number(1, 7), HandMade.number(2, first), lines)
  }

  @Test("A viewer requests the lines of all operations, of some, or of none")
  func interests() throws {
    for logs in [Interest.Logs.all, .operations([]), .operations([.init(1), .init(.max)])] {
      var interest = Interest()
      interest.logs = logs
      #expect(try Self.interest(interest).logs == logs)
    }
  }

  @Test("A viewer can request the lines of at most 1,000 operations")
  func interestLimit() throws {
    var interest = Interest()
    interest.logs = .operations(Set((1...2_000).map { .init($0) }))
    #expect(try Self.interest(interest).logs == .operations(Set((1...1_000).map { .init($0) })))
    #expect(throws: WireError.self) {
      try ViewerMessage(decoding: HandMade.watch(HandMade.packed(15, 1...1_001)))
    }
  }

  @Test("A viewer of an older version requests no lines")
  func olderViewer() throws {
    guard case .watch(let interest, _) = try ViewerMessage(decoding: HandMade.watch([])) else {
      throw WireError("it is something else")
    }
    #expect(interest.logs == .operations([]))
  }

  @Test("A viewer keeps the last 50 lines of a message with more lines, and their numbers")
  func tooManyLines() throws {
    let lines = (0..<60).flatMap { Self.line("\($0)") }
    let logs = try Self.update(HandMade.update(Self.log(first: 5, lines))).logs
    #expect(logs.map(\.first) == [15])
    #expect(logs.first?.lines.map(\.text) == (10..<60).map { "\($0)" })
  }

  @Test("A text of a message has at most 500 bytes, also if the process sends more")
  func longText() throws {
    let text = String(repeating: "é", count: 4_000)
    let frame = HandMade.update(Self.log(first: 0, Self.line(text)))
    let line = try #require(try Self.update(frame).logs.first?.lines.first)
    #expect(line.text.utf8.count <= 500 && line.text.hasSuffix("é…"))
    var update = Update(time: WireSamples.time(1))
    update.logs = [
      OperationLog(
        of: .init(7), lines: [LogLine(time: WireSamples.time(1), level: .info, text: text)])
    ]
    for part in UpdateParts(update) { #expect(part.count < 700) }
  }

  @Test("Extreme numbers and times are clamped, and an unknown level is the level info")
  func extremes() throws {
    let lines = Self.line("a", level: 99, time: .min) + Self.line("b", level: 0, time: .max)
    let log = try #require(
      try Self.update(HandMade.update(Self.log(first: .max, lines))).logs.first)
    #expect(log.first == 1 << 40 && log.end == 1 << 40 + 2)
    #expect(log.lines.map(\.level) == [.info, .info])
    #expect(log.lines.allSatisfy { abs($0.time.nanoseconds) <= 1 << 61 })
    var tails = LogTails()
    tails.apply([log, log, OperationLog(of: log.operation, first: 3, lines: log.lines)])
    #expect(tails[log.operation] == log)
  }

  @Test("All lines of an update count as entries of the update")
  func entries() throws {
    let lines = (0..<50).flatMap { Self.line("\($0)") }
    let frame = HandMade.update(Self.log(first: 0, lines), Self.log(first: 0, lines))
    guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else {
      throw WireError("it is something else")
    }
    var assembler = UpdateAssembler(mostEntries: 102, mostIDs: 10)
    #expect(throws: Never.self) { try assembler.take(part) }
    var smaller = UpdateAssembler(mostEntries: 101, mostIDs: 10)
    #expect(throws: WireError.self) { try smaller.take(part) }
  }
}
