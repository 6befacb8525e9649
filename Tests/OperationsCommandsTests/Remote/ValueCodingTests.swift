// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import TestSupport
import Testing

/// A value with properties of many types.
private struct Everything: Codable, Equatable {
  struct Empty: Codable, Equatable {}
  indirect enum Tree: Codable, Equatable {
    case leaf(Int)
    case branch([Tree], label: String?)
  }

  var text = "ä\n\0"
  var integers: [Int] = [.min, -1, 0, .max]
  var byte: UInt8 = 200
  var wide = UInt64.max
  var widest = Int128.min
  var unsignedWidest = UInt128.max
  var truth = true
  var present: Bool? = false
  var missing: String?
  var float: Float = 2.5
  var doubles: [String: [Double]] = ["x": [1.5, -.infinity]]
  var numbered: [Int: String] = [3: "three"]
  var bytes = [UInt8](0...255)
  var nestedBytes: [[UInt8]] = [[], [1], [2, 3]]
  var optionalBytes: [UInt8?] = [nil, 4]
  var empty = Empty()
  var optionals: [Empty?] = [nil, Empty()]
  var tree = Tree.branch([.leaf(1), .branch([], label: nil)], label: "root")
  var set: Set<Int> = [1, 2, 3]
}

private class Base: Codable {
  var base: Int
  init(base: Int) { self.base = base }
}

/// A class that writes into the container of its superclass.
private final class Derived: Base {
  private enum CodingKeys: CodingKey { case derived }
  var derived: [UInt8] = [1, 2]

  init() { super.init(base: 1) }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    derived = try container.decode([UInt8].self, forKey: .derived)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(derived, forKey: .derived)
  }
}

/// A class whose superclass has an encoder of its own.
private final class Separate: Base {
  private enum CodingKeys: CodingKey { case name }
  var name = "separate"

  init() { super.init(base: 2) }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try super.encode(to: container.superEncoder())
    try container.encode(name, forKey: .name)
  }
}

/// A value that writes bytes between other elements, as Foundation's `Data` writes its bytes.
private struct Mixed: Codable, Equatable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    let label = try container.decode(String.self)
    bytes = []
    for _ in 0..<(container.count ?? 0) - 2 { bytes.append(try container.decode(UInt8.self)) }
    let last = try container.decode(Int.self)
    guard label == "bytes", last == bytes.count, container.isAtEnd else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no mixed value")
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode("bytes")
    try container.encode(contentsOf: bytes)
    try container.encode(bytes.count)
  }
}

/// A value that continues a container after the container around it has continued.
private struct Interleaved: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    var first = container.nestedUnkeyedContainer()
    var second = container.nestedUnkeyedContainer()
    try second.encode(1)
    try first.encode(2)
  }
}

/// A value that decodes two of the properties of ``Everything`` in another order.
private struct Part: Decodable {
  private enum CodingKeys: CodingKey { case set, byte, missing }
  let byte: Int
  let set: [Int]
  let isMissing: Bool

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    set = try container.decode([Int].self, forKey: .set)
    byte = try container.decode(Int.self, forKey: .byte)
    isMissing = !container.contains(.missing)
  }
}

@Suite("The encoding of work and output")
struct ValueCodingTests {
  @Test("RW-14: Values of all kinds are the same after encoding and decoding")
  func valuesAreSame() throws {
    #expect(try recoded(Everything()) == Everything())
    #expect(try recoded(-5) == -5)
    #expect(try recoded("text") == "text")
    #expect(try recoded(Int?.none) == Int?.none)
    #expect(try recoded([Everything]()) == [])
    #expect(try recoded(Mixed([1, 2, 3])) == Mixed([1, 2, 3]))
    #expect(try recoded(Mixed([])) == Mixed([]))
  }

  @Test("RW-14: A container that is longer than the buffer is the same after encoding and decoding")
  func longContainersAreSame() throws {
    let many = (0..<2_000).map { ["number": [$0], "bytes": []] }
    #expect(try recoded(many) == many)
    let long = [UInt8](repeating: 3, count: 1 << 20)
    #expect(try recoded(["long": long, "short": [1]]) == ["long": long, "short": [1]])
  }

  @Test("RW-14: A class is the same with the container of its superclass, and with its own")
  func classesAreSame() throws {
    let derived = try #require(try recoded(Derived()))
    #expect(derived.base == 1 && derived.derived == [1, 2])
    let separate = try #require(try recoded(Separate()))
    #expect(separate.base == 2 && separate.name == "separate")
  }

  @Test("RW-14: Properties can be decoded in another order, and numbers as another type")
  func orderIsFree() throws {
    let bytes = try encoded(Everything())
    let part = try bytes.withUnsafeBytes { try ValueReader(bytes: $0).decode(Part.self, at: 0) }
    #expect(part.byte == 200 && part.set.sorted() == [1, 2, 3] && part.isMissing)
  }

  @Test("RW-14: A number that does not fit, and a value of another type, are errors")
  func mismatchIsError() throws {
    let negative = try encoded(-1)
    negative.withUnsafeBytes { bytes in
      let reader = ValueReader(bytes: bytes)
      #expect(throws: DecodingError.self) { try reader.decode(UInt.self, at: 0) }
      #expect(throws: DecodingError.self) { try reader.decode(String.self, at: 0) }
      #expect(throws: DecodingError.self) { try reader.decode([UInt8].self, at: 0) }
      #expect(throws: DecodingError.self) { try reader.decode(Everything.self, at: 0) }
    }
  }

  @Test("RW-14: A value that continues an ended container is an error")
  func interleavingIsError() {
    #expect(throws: (any Error).self) { try encoded(Interleaved()) }
  }

  @Test("RW-14: Damaged bytes are an error or another value, and never a trap")
  func damageDoesNotTrap() throws {
    let whole = try encoded(Everything())
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(20_000) {
      var bytes = whole.prefix(.random(in: 0...whole.count, using: &random))
      for _ in 0..<3 {
        guard let index = bytes.indices.randomElement(using: &random) else { break }
        bytes[index] = .random(in: 0...255, using: &random)
      }
      bytes.withUnsafeBytes { bytes in
        _ = try? ValueReader(bytes: bytes).decode(Everything.self, at: 0)
      }
    }
  }

  @Test("RW-15: Bytes are written as they are, and other elements one by one")
  func bytesAreCompact() throws {
    #expect(try encoded([UInt8](repeating: 1, count: 1_000)).count < 1_050)
    #expect(try encoded([Double](repeating: 1, count: 1_000)).count < 9_050)
  }
}
