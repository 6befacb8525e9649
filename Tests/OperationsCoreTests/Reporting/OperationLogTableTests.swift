// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

/// Tests of the rules by which log lines are stored and dropped, without threads.
@Suite("The table of log lines") struct OperationLogTableTests {
  private typealias ID = OperationID

  private static let one = ID(rawValue: 1)

  /// Adds a line of an operation, whose number is the number of its earlier lines.
  private static func append(
    _ text: String, of id: ID, to table: inout OperationLogTable, counts: inout [ID: UInt64]
  ) {
    let number = counts[id] ?? 0
    counts[id] = number + 1
    table.append(
      text, level: .info, at: Int64(table.sequence), of: id, number: number)
  }

  private static func texts(_ table: OperationLogTable, of id: ID) -> [String] {
    table.lines(of: id, in: 1...max(1, table.sequence))?.lines.map(\.text) ?? []
  }

  @Test("An operation keeps its last 50 lines, and the other lines are counted as dropped")
  func lineLimit() {
    var table = OperationLogTable()
    var counts: [ID: UInt64] = [:]
    for number in 0..<62 {
      Self.append("line \(number)", of: Self.one, to: &table, counts: &counts)
    }
    let kept = table.lines(of: Self.one, in: 1...62)
    #expect(kept?.first == 12)
    #expect(kept?.lines.map(\.text) == (12..<62).map { "line \($0)" })
    #expect(table.droppedCount == 12 && !table.hasDroppedOperations)
  }

  @Test("A reader receives only the lines in its range, with the number of the first one")
  func ranges() {
    var table = OperationLogTable()
    var counts: [ID: UInt64] = [:]
    for number in 0..<60 {
      Self.append("\(number)", of: ID(rawValue: UInt64(number % 2)), to: &table, counts: &counts)
    }
    // The lines with the sequence numbers 11, 13, 15, 17 and 19 are those of operation 0.
    let lines = table.lines(of: ID(rawValue: 0), in: 11...20)
    #expect(lines?.first == 5)
    #expect(lines?.lines.map(\.text) == ["10", "12", "14", "16", "18"])
    #expect(table.lines(of: ID(rawValue: 0), in: 60...60) == nil)
    #expect(table.operations(after: 59) == [ID(rawValue: 1)])
    #expect(table.operations(after: 60) == [])
  }

  @Test("The operation whose last line is the oldest is dropped first")
  func droppedOrder() {
    var table = OperationLogTable(byteLimit: 4_000)
    var counts: [ID: UInt64] = [:]
    let text = String(repeating: "x", count: 300)
    let ids = (1...4).map { ID(rawValue: $0) }
    for id in ids { Self.append(text, of: id, to: &table, counts: &counts) }
    // The first operation logs again, so the second one has the oldest last line.
    Self.append(text, of: ids[0], to: &table, counts: &counts)
    #expect(table.operations(after: 0) == [ids[0], ids[3], ids[2], ids[1]])
    var dropped: [ID] = []
    for _ in 0..<8 {
      Self.append(text, of: ids[3], to: &table, counts: &counts)
      for id in ids where Self.texts(table, of: id).isEmpty && !dropped.contains(id) {
        dropped.append(id)
      }
    }
    #expect(dropped == [ids[1], ids[2], ids[0]])
    #expect(table.hasDroppedOperations && table.droppedCount == 4)
  }

  @Test("The numbers of lines continue after all lines of an operation were dropped")
  func numbersContinue() {
    var table = OperationLogTable(byteLimit: 1_500)
    var counts: [ID: UInt64] = [:]
    for _ in 0..<3 { Self.append("early", of: Self.one, to: &table, counts: &counts) }
    for _ in 0..<2 {
      Self.append(
        String(repeating: "x", count: 500), of: ID(rawValue: 2), to: &table, counts: &counts)
    }
    #expect(Self.texts(table, of: Self.one).isEmpty)
    Self.append("late", of: Self.one, to: &table, counts: &counts)
    #expect(table.lines(of: Self.one, in: 1...table.sequence)?.first == 3)
  }

  @Test("One operation keeps its lines even if they exceed the limit of memory")
  func onlyOperation() {
    var table = OperationLogTable(byteLimit: 1)
    var counts: [ID: UInt64] = [:]
    Self.append("first", of: Self.one, to: &table, counts: &counts)
    Self.append("second", of: Self.one, to: &table, counts: &counts)
    #expect(Self.texts(table, of: Self.one) == ["first", "second"])
  }

  @Test("Random lines are stored as in a model, within the limit of memory", arguments: 0..<4)
  func randomLines(round: Int) {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed() &+ UInt64(round))
    let limit = [2_000, 20_000, 200_000, 4 << 20][round]
    var table = OperationLogTable(byteLimit: limit)
    var counts: [ID: UInt64] = [:]
    var model: [(id: ID, lines: [String])] = []
    for number in 0..<Effort.scaled(50_000) {
      let id = ID(
        rawValue: UInt64.random(in: 1...UInt64([3, 40, 4_000, 40][round]), using: &random))
      let text =
        String(repeating: "x", count: Int.random(in: 0...500, using: &random)) + "\(number)"
      Self.append(text, of: id, to: &table, counts: &counts)
      let index = model.firstIndex { $0.id == id }
      let old = index.map { model.remove(at: $0).lines } ?? []
      model.append((id, (old + [text]).suffix(50)))
      // The model drops as many operations as the table, so the test proves which ones they are.
      model.removeFirst(model.count - table.operationCount)
      guard number.isMultiple(of: 97) else { continue }
      #expect(table.byteCount <= limit || table.operationCount == 1)
      #expect(table.operations(after: 0) == model.reversed().map(\.id))
      for (id, lines) in model.shuffled(using: &random).prefix(5) {
        #expect(Self.texts(table, of: id) == lines)
      }
      let kept = model.reduce(0) { $0 + $1.lines.count }
      #expect(table.droppedCount + UInt64(kept) == table.sequence)
    }
  }

  @Test("The memory of the tables is released after most operations were dropped")
  func tablesShrink() {
    var table = OperationLogTable()
    var counts: [ID: UInt64] = [:]
    for number in 1...10_000 {
      Self.append("x", of: ID(rawValue: UInt64(number)), to: &table, counts: &counts)
    }
    let text = String(repeating: "x", count: 500)
    for number in 0..<10_000 {
      Self.append(text, of: ID(rawValue: UInt64(number % 150)), to: &table, counts: &counts)
    }
    #expect(table.operationCount <= 150)
    let ids = table.operations(after: 0)
    let textBytes = 500 * ids.reduce(0) { $0 + Self.texts(table, of: $1).count }
    // The texts alone take most of the memory.
    #expect(textBytes > 3_400_000 && table.byteCount <= 4 << 20)
  }

  // MARK: Texts

  @Test("A text of at most 500 bytes is stored as it is")
  func shortTexts() {
    for text in ["", "short", String(repeating: "x", count: 500), "a\u{1B}[2J\n\u{0}é"] {
      #expect(OperationLogLine.stored(text) == text)
    }
  }

  @Test(
    "A longer text is cut at the end of a character", arguments: ["x", "é", "€", "😀", "e\u{301}"])
  func longTexts(character: String) {
    for prefix in ["", "a", "ab", "abc"] {
      let stored = OperationLogLine.stored(prefix + String(repeating: character, count: 600))
      #expect(stored.utf8.count <= 500 && stored.utf8.count > 500 - 3 - character.utf8.count)
      #expect(stored.last == "…")
      #expect(stored.dropFirst(prefix.count).dropLast().allSatisfy { String($0) == character })
    }
  }

  @Test("A single character of more than 500 bytes is cut between its scalars")
  func longCharacter() {
    let stored = OperationLogLine.stored("e" + String(repeating: "\u{301}", count: 1_000))
    #expect(
      stored.utf8.count <= 500 && stored.hasSuffix("…")
        && stored.unicodeScalars.starts(with: "e\u{301}\u{301}".unicodeScalars))
  }
}
