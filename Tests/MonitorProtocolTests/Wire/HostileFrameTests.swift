// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

/// Tests with arbitrary received bytes. Decoding must return a value or throw an error, and must
/// never trap.
@Suite struct HostileFrameTests {
  /// The side that decodes a frame: a monitored process or a viewer.
  enum Reader: CaseIterable {
    case process, viewer

    var corpus: [[UInt8]] {
      get throws {
        switch self {
        case .process: try WireCorpus.viewerFrames()
        case .viewer: WireCorpus.processFrames()
        }
      }
    }

    /// Decodes a frame. If the frame is valid, encodes the value and decodes it again, and checks
    /// that the value is unchanged.
    ///
    /// - Returns: Whether the frame was valid.
    @discardableResult
    func reads(_ bytes: [UInt8]) -> Bool {
      switch self {
      case .process:
        guard let message = try? ViewerMessage(decoding: bytes) else { return false }
        #expect((try? ViewerMessage(decoding: message.encoded())) == message, "\(bytes)")
      case .viewer:
        guard let message = try? ProcessMessage(decoding: bytes) else { return false }
        #expect((try? ProcessMessage(decoding: message.encoded())) == message, "\(bytes)")
      }
      return true
    }
  }

  @Test(arguments: Reader.allCases)
  func aTruncatedFrameIsRefused(_ reader: Reader) throws {
    for frame in try reader.corpus {
      #expect(reader.reads(frame))
      // A truncated frame is never valid, because the only field of the outermost message extends
      // to the end of the frame.
      for length in 1..<frame.count { #expect(!reader.reads(Array(frame.prefix(length)))) }
    }
  }

  @Test(arguments: Reader.allCases)
  func eachBitOfAFrameCanBeDamaged(_ reader: Reader) throws {
    for frame in try reader.corpus {
      for index in frame.indices {
        for bit in 0..<8 {
          var damaged = frame
          damaged[index] ^= 1 << bit
          reader.reads(damaged)
        }
      }
    }
  }

  @Test(arguments: Reader.allCases)
  func framesOfTheOtherSideAreHarmless(_ reader: Reader) throws {
    for other in Reader.allCases {
      for frame in try other.corpus { reader.reads(frame) }
    }
  }

  @Test(arguments: Reader.allCases)
  func randomDamageOfFramesIsHarmless(_ reader: Reader) throws {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let corpus = try reader.corpus
    for _ in 0..<Effort.scaled(20_000) {
      var frame = corpus.randomElement(using: &generator) ?? []
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        Self.damage(&frame, corpus, &generator)
      }
      reader.reads(frame)
    }
  }

  @Test(arguments: Reader.allCases)
  func randomFramesAreHarmless(_ reader: Reader) {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(5_000) {
      let count = Int.random(in: 0...200, using: &generator)
      reader.reads((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
  }

  @Test(arguments: Reader.allCases)
  func framesWithRandomFieldsAreHarmless(_ reader: Reader) {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(20_000) { reader.reads(Self.fields(depth: 4, &generator)) }
  }

  /// Numbers near the limits of types and of messages, and numbers with which calculations may
  /// overflow.
  private static let numbers: [UInt64] = [
    0, 1, 2, 3, 63, 64, 127, 128, 1 << 31, 1 << 32, 1 << 40, 1 << 61, 1 << 62, 1 << 63, .max,
    .max - 1, UInt64(Int64.max), UInt64(UInt32.max), UInt64(bitPattern: Int64(Int32.min)),
  ]

  private static func damage(
    _ frame: inout [UInt8], _ corpus: [[UInt8]], _ generator: inout SeededGenerator
  ) {
    let start = Int.random(in: 0...frame.count, using: &generator)
    let end = min(frame.count, start + Int.random(in: 0...16, using: &generator))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: frame.removeSubrange(start..<end)
    case 1: frame.insert(contentsOf: frame[start..<end], at: start)
    case 2:
      if start < frame.count { frame[start] = UInt8.random(in: 0...255, using: &generator) }
    case 3:
      let number = numbers.randomElement(using: &generator) ?? 0
      frame.replaceSubrange(start..<end, with: HandMade.varint(number))
    case 4:
      let other = corpus.randomElement(using: &generator) ?? []
      let from = Int.random(in: 0...other.count, using: &generator)
      frame.replaceSubrange(start..., with: other[from...])
    default: frame.removeSubrange(start...)
    }
  }

  /// Returns encoded fields of random types. Their field numbers are from 1 to 20, as in real
  /// messages.
  private static func fields(depth: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      let field = Int.random(in: 1...20, using: &generator)
      let number = numbers.randomElement(using: &generator) ?? 0
      switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &generator) {
      case 0, 1: bytes += HandMade.number(field, number)
      case 2:
        let count = Int.random(in: 0...9, using: &generator)
        bytes += HandMade.packed(field, (0..<count).map { UInt64($0) })
      case 3: bytes += HandMade.text(field, ["OPQMON", "", "é", "state:exec"][Int(number % 4)])
      default: bytes += HandMade.bytes(field, fields(depth: depth - 1, &generator))
      }
    }
    return bytes
  }

  // MARK: - Made to be expensive

  @Test(arguments: Reader.allCases)
  func anAnnouncedLengthWithoutBytesIsRefused(_ reader: Reader) {
    // Each field that announces a length without bytes is tried at three depths: alone, inside a
    // message, and inside an interest or a queue of a message.
    let inner = reader == .process ? 1 : 5
    for length: UInt64 in [100, 1 << 20, 1 << 31, 1 << 40, 1 << 62, 1 << 63, .max] {
      for field in 1...20 {
        let announced = HandMade.tag(field, 2) + HandMade.varint(length)
        #expect(!reader.reads(announced))
        #expect(!reader.reads(HandMade.bytes(2, announced)))
        #expect(!reader.reads(HandMade.message(2, HandMade.bytes(inner, announced))))
      }
    }
  }

  @Test(arguments: Reader.allCases)
  func messagesInMessagesAreReadToADepthOfSixteen(_ reader: Reader) {
    let open = HandMade.tag(1_000, 3)
    let close = HandMade.tag(1_000, 4)
    func nested(_ depth: Int) -> [UInt8] {
      Array(repeatElement(open, count: depth).joined())
        + Array(repeatElement(close, count: depth).joined())
    }
    #expect(reader.reads(nested(8)))
    #expect(!reader.reads(nested(17)))
    // With a recursive decoder, 100,000 nested messages would exceed the stack.
    #expect(!reader.reads(nested(100_000)))
  }

  @Test(arguments: Reader.allCases)
  func aTextThatIsNotUTF8IsRefused(_ reader: Reader) {
    let field = reader == .process ? 6 : 5
    let reason = reader == .process ? 1 : 2
    for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] {
      #expect(!reader.reads(HandMade.message(field, HandMade.bytes(reason, bytes))))
    }
  }

  @Test func anInvalidTimeOfDayIsReadAsZero() throws {
    for seconds: Double in [.nan, .infinity, -.infinity] {
      let bits = seconds.bitPattern
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
      let frame = HandMade.message(1, HandMade.text(1, "OPQMON"), HandMade.tag(7, 1) + bytes)
      guard case .hello(let hello, _) = try ProcessMessage(decoding: frame) else {
        Issue.record("it is something else")
        return
      }
      #expect(hello.anchorSecondsSince1970 == 0)
    }
  }

  @Test func extremeValuesOfAProcessAreClamped() throws {
    let extremes: [Int64] = [.min, -1, .max]
    for extreme in extremes {
      let counts = HandMade.message(
        3, (1...8).flatMap { HandMade.signed($0, extreme) })
      let queue = HandMade.message(5, counts, HandMade.signed(4, extreme))
      let operation = HandMade.message(
        6, HandMade.number(5, 4), HandMade.signed(8, extreme),
        (11...15).flatMap { HandMade.signed($0, extreme) })
      let frame = HandMade.update(
        HandMade.signed(3, extreme), queue, queue, operation, HandMade.signed(8, extreme),
        HandMade.signed(9, extreme), HandMade.signed(11, extreme), HandMade.number(12, .max),
        HandMade.signed(18, extreme))
      guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else {
        Issue.record("it is something else")
        return
      }
      var assembler = UpdateAssembler()
      let update = try #require(try assembler.take(part))
      // The test computes the sums and differences that a viewer computes from a decoded update.
      let sum = update.queues.reduce(StateCounts()) { $0 + $1.counts }
      #expect(sum.total == (extreme > 0 ? 1 << 41 : 0))
      _ = sum.isConsistent
      let report = update.changed[0]
      for time in [report.added, report.finished, update.time] {
        let nanoseconds = try #require(time).nanoseconds
        #expect(abs(nanoseconds) <= 1 << 61)
        #expect((nanoseconds > 0) == (extreme > 0))
      }
      #expect(update.lostChanges == 1 << 40)
      #expect(update.matchCount >= 0)
      #expect(update.changed[0].unmetDependencyCount >= 0)
    }
  }
}
