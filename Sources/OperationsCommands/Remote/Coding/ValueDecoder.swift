// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decodes the value at one position of a ``ValueReader``.
final class ValueDecoder: Decoder {
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private let reader: ValueReader
  private let position: Int

  init(_ reader: ValueReader, at position: Int, path: [any CodingKey]) {
    self.reader = reader
    self.position = position
    codingPath = path
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try KeyedValues<Key>(reader, at: position, codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try UnkeyedValues(reader, at: position, codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleValue(reader: reader, position: position, codingPath: codingPath)
  }
}

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let codingPath: [any CodingKey]
  private let reader: ValueReader
  private let positions: [String: Int]

  init(_ reader: ValueReader, at position: Int, _ codingPath: [any CodingKey]) throws {
    self.reader = reader
    self.codingPath = codingPath
    positions = try reader.entries(at: position, codingPath)
  }

  var allKeys: [Key] { positions.keys.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { positions[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try reader.isNull(at: position(key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try reader.bool(at: position(key), codingPath + [key])
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try reader.string(at: position(key), codingPath + [key])
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try reader.double(at: position(key), codingPath + [key])
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try reader.float(at: position(key), codingPath + [key])
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decodeInteger(key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decodeInteger(key) }
  func decode<Number: FixedWidthInteger & Decodable>(
    _ type: Number.Type, forKey key: Key
  ) throws -> Number { try decodeInteger(key) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try reader.decode(type, at: position(key), path: codingPath + [key])
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    KeyedDecodingContainer(
      try KeyedValues<NestedKey>(reader, at: position(key), codingPath + [key]))
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try UnkeyedValues(reader, at: position(key), codingPath + [key])
  }

  func superDecoder() throws -> any Decoder {
    guard let position = positions["super"] else {
      throw DecodingError.valueNotFound(
        (any Decoder).self,
        DecodingError.Context(
          codingPath: codingPath, debugDescription: "the superclass is missing"))
    }
    return ValueDecoder(reader, at: position, path: codingPath)
  }
  func superDecoder(forKey key: Key) throws -> any Decoder {
    ValueDecoder(reader, at: try position(key), path: codingPath + [key])
  }

  private func decodeInteger<Number: FixedWidthInteger>(_ key: Key) throws -> Number {
    try reader.integer(at: position(key), codingPath + [key])
  }

  private func position(_ key: Key) throws -> Int {
    if let position = positions[key.stringValue] { return position }
    throw DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: codingPath, debugDescription: "the key is missing"))
  }
}

private struct UnkeyedValues: UnkeyedDecodingContainer {
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0
  private let reader: ValueReader
  private let elementCount: Int
  /// The position of the next element, unless it is one of ``bytes``.
  private var position: Int
  /// The positions of the next elements, if they are bytes.
  private var bytes = 0..<0

  init(_ reader: ValueReader, at position: Int, _ codingPath: [any CodingKey]) throws {
    self.reader = reader
    self.codingPath = codingPath
    let (count, range) = try reader.elements(at: position, codingPath)
    elementCount = count
    self.position = range.lowerBound
    if count > 0 { try enterBytes() }
  }

  var count: Int? { elementCount }
  var isAtEnd: Bool { currentIndex >= elementCount }

  mutating func decodeNil() throws -> Bool {
    guard try bytes.isEmpty && reader.isNull(at: next(Never.self)) else { return false }
    try advance()
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try decodeElement(type) { try $0.bool(at: $1, $2()) }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try decodeElement(type) { try $0.string(at: $1, $2()) }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try decodeElement(type) { try $0.double(at: $1, $2()) }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try decodeElement(type) { try $0.float(at: $1, $2()) }
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try decodeInteger() }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try decodeInteger() }
  mutating func decode<Number: FixedWidthInteger & Decodable>(
    _ type: Number.Type
  ) throws -> Number { try decodeInteger() }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == UInt8.self, let value = try decodeInteger() as UInt8 as? Value { return value }
    return try decodeElement(type) { try $0.decode(type, at: $1, path: $2()) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decodeElement([String: Any].self) {
      KeyedDecodingContainer(try KeyedValues<NestedKey>($0, at: $1, $2()))
    }
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try decodeElement([Any].self) { try UnkeyedValues($0, at: $1, $2()) }
  }
  mutating func superDecoder() throws -> any Decoder {
    try decodeElement((any Decoder).self) { ValueDecoder($0, at: $1, path: $2()) }
  }

  private mutating func decodeInteger<Number: FixedWidthInteger>() throws -> Number {
    guard let first = bytes.first else {
      return try decodeElement(Number.self) { try $0.integer(at: $1, $2()) }
    }
    guard let number = Number(exactly: try reader.bytes.byte(at: first)) else {
      throw reader.mismatch(Number.self, path)
    }
    try advance()
    return number
  }

  private mutating func decodeElement<Value>(
    _ type: Any.Type,
    _ decode: (ValueReader, _ position: Int, _ path: () -> [any CodingKey]) throws -> Value
  ) throws -> Value {
    let position = try next(type)
    guard bytes.isEmpty else { throw reader.mismatch(type, path) }
    // Most values need no path, which takes time to create.
    let value = try decode(reader, position) { [codingPath, currentIndex] in
      codingPath + [IndexKey(currentIndex)]
    }
    try advance()
    return value
  }

  private var path: [any CodingKey] { codingPath + [IndexKey(currentIndex)] }

  /// Returns the position of the next element.
  private func next(_ type: Any.Type) throws -> Int {
    guard isAtEnd else { return position }
    throw DecodingError.valueNotFound(
      type,
      DecodingError.Context(codingPath: path, debugDescription: "the next element is missing"))
  }

  private mutating func advance() throws {
    currentIndex += 1
    if bytes.isEmpty {
      position = try reader.end(of: position)
    } else {
      bytes.removeFirst()
    }
    if bytes.isEmpty, !isAtEnd { try enterBytes() }
  }

  /// If the next elements are bytes, stores their positions.
  private mutating func enterBytes() throws {
    guard let elements = try reader.byteElements(at: position) else { return }
    bytes = elements
    position = elements.upperBound
  }
}

private struct SingleValue: SingleValueDecodingContainer {
  let reader: ValueReader
  let position: Int
  let codingPath: [any CodingKey]

  func decodeNil() -> Bool { (try? reader.isNull(at: position)) ?? false }
  func decode(_ type: Bool.Type) throws -> Bool { try reader.bool(at: position, codingPath) }
  func decode(_ type: String.Type) throws -> String { try reader.string(at: position, codingPath) }
  func decode(_ type: Double.Type) throws -> Double { try reader.double(at: position, codingPath) }
  func decode(_ type: Float.Type) throws -> Float { try reader.float(at: position, codingPath) }
  func decode(_ type: Int128.Type) throws -> Int128 {
    try reader.integer(at: position, codingPath)
  }
  func decode(_ type: UInt128.Type) throws -> UInt128 {
    try reader.integer(at: position, codingPath)
  }
  func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
    try reader.integer(at: position, codingPath)
  }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try reader.decode(type, at: position, path: codingPath)
  }
}
