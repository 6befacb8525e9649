// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import MonitorProtocol

/// Tests with files that have any contents. Only complete updates of a file are replayed.
@Suite struct DamagedRecordingTests {
  private typealias Scene = RecordingScene

  /// Returns the updates of a recording, replayed from its start; `nil` if the file is refused
  /// because it is not a recording.
  private func played(_ bytes: [UInt8]) -> (updates: [Update], reader: RecordingReader)? {
    guard var reader = try? Scene.reader(bytes) else { return nil }
    let updates = Scene.updates(&reader)
    if reader.fault != nil, let last = updates.last { reader.end(with: last) }
    return (updates.map(\.update), reader)
  }

  @Test func aTruncatedFilePlaysToItsLastCompleteUpdate() throws {
    let whole = Scene.bytes(12, isFinished: false)
    var known = try Scene.reader(whole)
    let all = Scene.updates(&known)
    let file = Scene.bytes(12)
    for length in 0..<file.count {
      let expected = all.prefix { $0.end <= length }
      guard let (updates, reader) = played(Array(file.prefix(length))) else {
        #expect(expected.isEmpty, "cut to \(length)")
        continue
      }
      #expect(updates == expected.map(\.update), "cut to \(length)")
      #expect(reader.end == expected.last?.update.time)
      #expect(
        reader.fault
          == "the recording was not completed; the replay ends at the last complete update")
    }
  }

  @Test func aDamagedFilePlaysToTheLastCompleteUpdateBeforeTheDamage() throws {
    let file = Scene.bytes(12)
    let all = try #require(played(file)).updates
    for index in file.indices {
      for bit in Effort.percent >= 100 ? [0, 3, 7] : [[0, 3, 7][index % 3]] {
        var damaged = file
        damaged[index] ^= 1 << bit
        guard let (updates, reader) = played(damaged) else { continue }
        #expect(updates == Array(all.prefix(updates.count)), "byte \(index)")
        if updates.count < all.count {
          let fault = try #require(reader.fault)
          #expect(fault.contains("damaged at byte") || fault.contains("not completed"))
          #expect(reader.end == updates.last?.time)
        }
      }
    }
  }

  @Test func anAnnouncedSizeAllocatesNoMemory() throws {
    let file = Scene.bytes(3, isFinished: false)
    for length: UInt32 in [.max, UInt32(WireLimits.maximumMessageSize) + 1] {
      let bytes = file + length.littleEndianBytes + [UInt8](repeating: 0, count: 40)
      let largest = Largest()
      var reader = try RecordingReader(size: .max / 2) { offset, count in
        largest.note(count)
        let start = min(offset, bytes.count)
        return Array(bytes[start..<min(bytes.count, start + count)])
      }
      #expect(Scene.updates(&reader).count == 3)
      #expect(reader.fault?.contains("damaged at byte \(file.count)") == true)
      #expect(largest.value <= WireLimits.maximumMessageSize + RecordingEntry.headerSize)
    }
  }

  @Test func anInvalidRecordingIsRefused() {
    for bytes in [[], Array("OPQREC".utf8), Array("OPQMON 0123456789".utf8)] {
      let error = #expect(throws: RecordingError.self) { try Scene.reader(bytes) }
      #expect(error?.description == "not an opq-top recording")
    }
    var writer = RecordingWriter()
    let empty = writer.add(.hello(Scene.hello)) + writer.finish()
    let error = #expect(throws: RecordingError.self) { try Scene.reader(empty) }
    #expect(error?.description == "the recording has no updates")
    #expect(error?.isOtherVersion == false)
  }

  @Test func randomDamageOfFilesIsHarmless() {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let file = Scene.bytes(20)
    for _ in 0..<Effort.scaled(2_000) {
      var bytes = file
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let start = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, start + Int.random(in: 0...40, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: bytes[start..<end], at: start)
        case 2: for index in start..<end { bytes[index] = .random(in: 0...255, using: &generator) }
        default: bytes[start] = [0, 1, 127, 128, 255].randomElement(using: &generator) ?? 0
        }
      }
      guard let (_, reader) = played(bytes) else { continue }
      // Seeking to a time or to an offset must not trap, whatever the file contains.
      for second in [-1, 0, 7, 21, .max / 2_000_000_000] {
        var copy = reader
        _ = copy.update(at: reader.snapshot(upTo: Scene.time(second)))
      }
      for offset in [-1, 0, bytes.count / 2, .max] {
        var copy = reader
        _ = copy.update(at: offset)
        _ = copy.update(at: reader.warning(behind: offset)?.offset ?? 0)
        _ = copy.update(at: reader.snapshot(before: offset))
      }
    }
  }

  @Test(
    "An index with a wrong beginning or end is ignored")
  func theIndexIsChecked() throws {
    let file = Scene.bytes(20, isFinished: false)
    let scanned = try Scene.reader(file)
    let whole = try Scene.reader(Scene.bytes(20))
    #expect(whole.fault == nil && whole.start == scanned.start && whole.end == scanned.end)
    let second = whole.snapshot(upTo: whole.start + .seconds(7))
    #expect(second > whole.snapshot(upTo: whole.start))
    for isLate in [true, false] {
      var index = RecordingIndex()
      index.snapshots = [
        .init(
          time: isLate ? Scene.time(6) : Scene.time(1),
          offset: isLate ? second : whole.snapshot(upTo: whole.start))
      ]
      index.end = .init(time: Scene.time(isLate ? 20 : 2_000_000_000), offset: second)
      var end: [UInt8] = []
      for payload in index.payloads {
        RecordingEntry(.index, at: Scene.time(20), payload).append(to: &end)
      }
      let lying = try Scene.reader(
        file + end + Int64(file.count).littleEndianBytes + RecordingFormat.endMagic)
      #expect((lying.start, lying.end) == (scanned.start, scanned.end))
    }
  }

  @Test(
    "A trailer with a wrong offset of the index is ignored",
    arguments: [.min, -1, 0, 1, Int64(RecordingFormat.headerSize), 15, 1 << 62, .max])
  func theOffsetOfTheIndexIsChecked(begin: Int64) throws {
    let file = Scene.bytes(20, isFinished: false)
    let scanned = try Scene.reader(file)
    let reader = try Scene.reader(file + begin.littleEndianBytes + RecordingFormat.endMagic)
    #expect((reader.start, reader.end) == (scanned.start, scanned.end))
  }

  @Test func anIndexWithRandomPositionsIsHarmless() {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let file = Scene.bytes(20, isFinished: false)
    for _ in 0..<Effort.scaled(500) {
      var index = RecordingIndex()
      func place() -> RecordingIndex.Place {
        let offset = Int.random(in: -5...file.count + 5, using: &generator)
        return .init(time: Scene.time(offset / 100), offset: offset)
      }
      index.snapshots = (0..<3).map { _ in place() }.sorted { $0.offset < $1.offset }
      index.warnings = [place()]
      index.end = .init(time: Scene.time(20), offset: file.count - 1)
      var end: [UInt8] = []
      for payload in index.payloads {
        RecordingEntry(.index, at: Scene.time(20), payload).append(to: &end)
      }
      _ = played(file + end + Int64(file.count).littleEndianBytes + RecordingFormat.endMagic)
    }
  }
}

/// The maximum number of bytes that a single read of the file has requested.
private final class Largest: Sendable {
  private let number = Mutex(0)

  var value: Int { number.withLock { $0 } }

  func note(_ count: Int) { number.withLock { $0 = max($0, count) } }
}
