// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Reads encoded values from bytes, which need not be valid. A ``ValueWriter`` has written them.
struct ValueReader {
  /// The bytes.
  let bytes: ValueBytes

  init(_ bytes: ValueBytes) { self.bytes = bytes }

  /// Creates a reader of bytes in memory. The caller keeps them there.
  init(bytes: UnsafeRawBufferPointer) { self.bytes = ValueBytes(bytes) }

  /// Decodes the value at a position.
  ///
  /// - Throws: `DecodingError`; the error of the value.
  func decode<Value: Decodable>(
    _ type: Value.Type, at position: Int, path: @autoclosure () -> [any CodingKey] = []
  ) throws -> Value {
    if type == [UInt8].self, let value = try byteArray(at: position, path()) as? Value {
      return value
    }
    return try Value(from: ValueDecoder(self, at: position, path: path()))
  }

  /// Returns the position after the value at a position.
  func end(of position: Int) throws -> Int {
    let tag = try tag(at: position)
    if let size = tag.numberSize { return position + 1 + size }
    if [.null, .no, .yes].contains(tag) { return position + 1 }
    guard [.string, .bytes, .keyed, .unkeyed].contains(tag) else { throw damage }
    return try contents(at: position + 1).upperBound
  }

  // MARK: Values

  /// Returns whether the value at a position is `null`.
  func isNull(at position: Int) throws -> Bool { try tag(at: position) == .null }

  func bool(at position: Int, _ path: @autoclosure () -> [any CodingKey]) throws -> Bool {
    let tag = try tag(at: position)
    guard tag == .yes || tag == .no else { throw mismatch(Bool.self, path()) }
    return tag == .yes
  }

  func string(at position: Int, _ path: @autoclosure () -> [any CodingKey]) throws -> String {
    guard try tag(at: position) == .string else { throw mismatch(String.self, path()) }
    return try text(contents(at: position + 1))
  }

  func float(at position: Int, _ path: @autoclosure () -> [any CodingKey]) throws -> Float {
    guard try tag(at: position) == .float else { throw mismatch(Float.self, path()) }
    return try load(at: position + 1)
  }

  func double(at position: Int, _ path: @autoclosure () -> [any CodingKey]) throws -> Double {
    guard try tag(at: position) == .double else { throw mismatch(Double.self, path()) }
    return try load(at: position + 1)
  }

  /// Reads an integer, which may be of another type if the value fits.
  func integer<Number: FixedWidthInteger>(
    at position: Int, _ path: @autoclosure () -> [any CodingKey]
  ) throws -> Number {
    let tag = try tag(at: position)
    guard tag.isInteger, let size = tag.numberSize else { throw mismatch(Number.self, path()) }
    // On a machine with the other byte order, the bytes of a shorter number are the last ones.
    var number: Int128 = 0
    let first = try range(position + 1, size)
    try withUnsafeMutableBytes(of: &number) { target in
      let begin = Self.isLittleEndian ? 0 : target.count - size
      let part = UnsafeMutableRawBufferPointer(rebasing: target[begin..<begin + size])
      try bytes.copy(at: first.lowerBound, to: part)
    }
    let unused = 128 - 8 * size
    let value =
      tag.isSigned
      ? Number(exactly: (number << unused) >> unused)
      : Number(exactly: UInt128(truncatingIfNeeded: number))
    guard let value else { throw mismatch(Number.self, path()) }
    return value
  }

  // MARK: Containers

  /// Returns the positions of the values of a container with keys.
  func entries(
    at position: Int, _ path: @autoclosure () -> [any CodingKey]
  ) throws -> [String: Int] {
    guard try tag(at: position) == .keyed else { throw mismatch([String: Any].self, path()) }
    let range = try contents(at: position + 1)
    var entries: [String: Int] = [:]
    var next = range.lowerBound
    while next < range.upperBound {
      let key = try contents(at: next)
      entries[try text(key)] = key.upperBound
      next = try end(of: key.upperBound)
    }
    return entries
  }

  /// Returns the number of elements of a container without keys, and the range of the elements.
  func elements(
    at position: Int, _ path: @autoclosure () -> [any CodingKey]
  ) throws -> (count: Int, range: Range<Int>) {
    guard try tag(at: position) == .unkeyed else { throw mismatch([Any].self, path()) }
    let range = try contents(at: position + 1)
    let count: Int = try load(at: range.lowerBound)
    let elements = range.dropFirst(ValueTag.lengthSize)
    // Each element has at least one byte.
    guard count >= 0, count <= elements.count else { throw damage }
    return (count, elements)
  }

  /// Returns the range of the bytes at a position that are elements of the type `UInt8`; `nil` if there are none.
  func byteElements(at position: Int) throws -> Range<Int>? {
    try tag(at: position) == .bytes ? contents(at: position + 1) : nil
  }

  /// Copies the elements of a container that are bytes only; `nil` for other containers.
  private func byteArray(
    at position: Int, _ path: @autoclosure () -> [any CodingKey]
  ) throws -> [UInt8]? {
    let (count, range) = try elements(at: position, path())
    if count == 0 { return [] }
    guard let elements = try byteElements(at: range.lowerBound), elements.count == count else {
      return nil
    }
    return try Array(unsafeUninitializedCapacity: count) { target, initializedCount in
      let target = UnsafeMutableRawBufferPointer(target)
      let whole = UnsafeMutableRawBufferPointer(rebasing: target[..<count])
      try bytes.copy(at: elements.lowerBound, to: whole)
      initializedCount = count
    }
  }

  // MARK: Bytes

  private static let isLittleEndian = Int(littleEndian: 1) == 1

  private func tag(at position: Int) throws -> ValueTag {
    ValueTag(rawValue: try bytes.byte(at: position))
  }

  /// Returns the range of the contents that follow their length.
  private func contents(at position: Int) throws -> Range<Int> {
    let length: Int = try load(at: position)
    return try range(position + ValueTag.lengthSize, length)
  }

  private func load<Number: BitwiseCopyable>(at position: Int) throws -> Number {
    let range = try range(position, MemoryLayout<Number>.size)
    return try withUnsafeTemporaryAllocation(of: Number.self, capacity: 1) { buffer in
      let target = UnsafeMutableRawBufferPointer(buffer)
      try bytes.copy(at: range.lowerBound, to: target)
      return target.load(as: Number.self)
    }
  }

  private func range(_ position: Int, _ count: Int) throws -> Range<Int> {
    guard position >= 0, count >= 0, count <= bytes.count, position <= bytes.count - count else {
      throw damage
    }
    return position..<position + count
  }

  private func text(_ range: Range<Int>) throws -> String {
    try String(unsafeUninitializedCapacity: range.count) { buffer in
      let target = UnsafeMutableRawBufferPointer(buffer)
      try bytes.copy(
        at: range.lowerBound, to: UnsafeMutableRawBufferPointer(rebasing: target[..<range.count]))
      return range.count
    }
  }

  // MARK: Errors

  /// The error of bytes that were not written by a ``ValueWriter``.
  var damage: DecodingError { ValueBytes.damage }

  /// The error of a value of another type.
  func mismatch(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
    DecodingError.typeMismatch(
      type,
      DecodingError.Context(
        codingPath: path, debugDescription: "the value has another type or does not fit"))
  }
}
