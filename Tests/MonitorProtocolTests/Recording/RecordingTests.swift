// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite struct RecordingTests {
  private typealias Scene = RecordingScene

  @Test func aRecordingReplaysAllStates() throws {
    var reader = try Scene.reader(Scene.bytes(30))
    #expect(reader.hello == Scene.hello)
    #expect(reader.start == Scene.time(1) && reader.end == Scene.time(30))
    let played = Scene.updates(&reader)
    #expect(played.map(\.update.time) == (1...30).map { Scene.time($0) })
    #expect(reader.fault == nil)
    var state = ProcessState()
    for (second, states) in zip(1...30, Scene.states(played)) {
      state.apply(Scene.update(second), isWhole: false)
      #expect(states == state.operations.all.sorted { $0.id < $1.id })
      #expect(played[second - 1].update.queues == Scene.update(second).queues)
      #expect(played[second - 1].update.warnings == Scene.update(second).warnings)
    }
  }

  @Test("Playing can begin at any time with at most 5 s of updates, and shows the same there")
  func playingBeginsAnywhere() throws {
    var reader = try Scene.reader(Scene.bytes(60))
    let played = Scene.updates(&reader)
    let states = Scene.states(played)
    for second in 1...60 {
      let offset = reader.snapshot(upTo: Scene.time(second))
      let rest = Scene.updates(&reader, from: offset)
      #expect(rest.first?.isWhole == true)
      let first = try #require(rest.first?.update.time)
      #expect(first <= Scene.time(second) && Scene.time(second) - first < .seconds(5))
      let index = try #require(rest.firstIndex { $0.update.time == Scene.time(second) })
      #expect(Scene.states(rest)[index] == states[second - 1])
    }
  }

  @Test func theIndexEqualsTheResultOfAScan() throws {
    let whole = try Scene.reader(Scene.bytes(60))
    let scanned = try Scene.reader(Scene.bytes(60, isFinished: false))
    #expect(whole.end == scanned.end && whole.start == scanned.start)
    for second in 0...61 {
      #expect(
        whole.snapshot(upTo: Scene.time(second)) == scanned.snapshot(upTo: Scene.time(second)))
    }
    var (offset, count) = (0, 0)
    while let next = whole.warning(behind: offset) {
      #expect(scanned.warning(behind: offset)?.offset == next.offset)
      #expect(next.time == Scene.time(8 * (count + 1)))
      #expect(whole.warning(before: next.offset + 1)?.offset == next.offset)
      offset = next.offset
      count += 1
    }
    #expect(count == 7)
    #expect(whole.fault == nil)
    #expect(scanned.fault?.contains("not completed") == true)
  }

  @Test func aLargeIndexIsSplitIntoSeveralFrames() throws {
    let seconds = 5 * RecordingIndex.placesPerEntry / 4
    var reader = try Scene.reader(Scene.bytes(seconds))
    #expect(reader.fault == nil && reader.end == Scene.time(seconds))
    let last = Scene.updates(&reader, from: reader.snapshot(upTo: reader.end)).last
    #expect(last?.update.time == Scene.time(seconds))
  }

  @Test func aSecondGreetingStartsACompleteUpdate() throws {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(Scene.hello))
    bytes += writer.add(.update(Scene.update(1)))
    bytes += writer.add(.disconnected(reason: "x")) + writer.add(.hello(Scene.hello))
    bytes += writer.add(.update(Scene.update(7)))
    bytes += writer.add(.ended(reason: "it is done")) + writer.finish()
    var reader = try Scene.reader(bytes)
    let played = Scene.updates(&reader)
    #expect(played.map(\.isWhole) == [true, true])
    #expect(Scene.states(played)[1].map(\.id.rawValue) == [6, 7])
    #expect(reader.farewell == "it is done")
    #expect(writer.byteCount == bytes.count && writer.updateCount == 2)
    #expect(writer.length == .seconds(6))
  }

  @Test func nothingIsWrittenBeforeTheGreeting() {
    var writer = RecordingWriter()
    #expect(writer.add(.update(Scene.update(1))) == [] && writer.finish() == [])
  }

  // MARK: Versions

  /// Returns a recording with another version number in the header of the file or in the greeting.
  private func bytes(_ version: ProtocolVersions, inGreeting: Bool = false) -> [UInt8] {
    let bytes = Scene.bytes(20)
    let number = version.major.littleEndianBytes + version.minor.littleEndianBytes
    guard inGreeting else { return bytes[..<6] + number + bytes[14...] }
    var greeting: [UInt8] = []
    RecordingEntry(
      .message, at: Scene.time(0),
      ProcessMessage.hello(Scene.hello, versions: .current).encoded()
    ).append(to: &greeting)
    var other: [UInt8] = []
    RecordingEntry(
      .message, at: Scene.time(0), ProcessMessage.hello(Scene.hello, versions: version).encoded()
    ).append(to: &other)
    return bytes[..<14] + other + bytes[(14 + greeting.count)...]
  }

  @Test(arguments: [false, true])
  func aNewerMinorVersionPlays(inGreeting: Bool) throws {
    var reader = try Scene.reader(bytes(.init(major: 1, minor: 99), inGreeting: inGreeting))
    #expect(Scene.updates(&reader).count == 20)
  }

  @Test(arguments: [false, true])
  func anotherMajorVersionIsRefused(inGreeting: Bool) {
    for major: UInt32 in [0, 2, .max] {
      let error = #expect(throws: RecordingError.self) {
        try Scene.reader(bytes(.init(major: major, minor: 0), inGreeting: inGreeting))
      }
      #expect(error?.isOtherVersion == true)
      #expect(error?.description.contains("version \(major).0") == true)
    }
  }

  @Test func unknownFramesAndEntriesAreSkipped() throws {
    let bytes = Scene.bytes(20, isFinished: false)
    var index = RecordingIndex()
    var known = try Scene.reader(bytes)
    for update in Scene.updates(&known) {
      index.note(
        update.update, at: .init(time: update.update.time, offset: update.offset),
        isSnapshot: update.isWhole)
    }
    var end: [UInt8] = []
    var later = RecordingEntry(.message, at: Scene.time(20), [1, 2, 3])
    later.kind = 77
    later.append(to: &end)
    let place = bytes.count + end.count
    let unknownEntry = [UInt8](repeating: 200, count: 17)
    RecordingEntry(
      .index, at: Scene.time(20), unknownEntry + index.payloads.flatMap { $0 } + unknownEntry
    ).append(to: &end)
    later.append(to: &end)
    end += Int64(place).littleEndianBytes + RecordingFormat.endMagic
    var reader = try Scene.reader(bytes + end)
    #expect(Scene.updates(&reader).count == 20)
    #expect(reader.fault == nil && reader.end == Scene.time(20))
  }

  @Test func theFirstRecordingStaysReadable() throws {
    var reader = try Scene.reader(FirstRecording.bytes)
    #expect(reader.versions == ProtocolVersions(major: 1, minor: 0))
    #expect(reader.hello == Scene.hello)
    let played = Scene.updates(&reader)
    #expect(reader.fault == nil && reader.farewell == "it is done")
    #expect(played.map(\.isWhole) == [true, false, false, false, false, true, false, false])
    var state = ProcessState()
    for (second, states) in zip(1...8, Scene.states(played)) {
      state.apply(Scene.update(second), isWhole: false)
      #expect(states == state.operations.all.sorted { $0.id < $1.id })
    }
    #expect(reader.warning(behind: 0)?.time == Scene.time(8))
  }
}
