// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// Writes values to a file while they are encoded. The used memory does not depend on the size of the values.
///
/// A container is written when it is created, and not when it is complete. So its length is unknown at first, and is
/// written when the container ends. A container ends when a value is written to a container around it. If `encode(to:)`
/// writes to a container that has ended, an error is thrown.
final class ValueWriter {
  /// The right to write one value at the present position of the file.
  struct Place: Equatable {
    /// A place at which nothing can be written.
    static let none = Place(number: 0)

    fileprivate let number: Int
  }

  /// A container that was begun.
  struct Scope {
    fileprivate let depth: Int
    fileprivate let number: Int
  }

  private struct Container {
    let tag: ValueTag
    let number: Int
    /// The position of the length in the file.
    let start: Int
    var count = 0
  }

  /// The number of bytes that are written at once. More bytes of one array are written without a copy.
  private static let bufferSize = 1 << 16

  private let file: Int32
  private var buffer: [UInt8] = []
  /// The number of bytes that were written to the file.
  private var writtenCount = 0
  /// The containers that have not ended, the outermost first.
  private var containers: [Container] = []
  private var lastNumber = 0
  /// The value that must be written next; `nil` if a container must continue first.
  private var next: Place?

  /// Creates a writer that writes at the beginning of an empty file.
  ///
  /// - Parameter file: The descriptor. The caller closes it.
  init(_ file: Int32) { self.file = file }

  /// Writes bytes that are not an encoded value.
  func writeText(_ text: StaticString) {
    text.withUTF8Buffer { buffer += $0 }
  }

  /// Encodes a value, and writes all bytes to the file.
  ///
  /// - Throws: `EncodingError`; `Errno` if the file cannot be written; the error of the value.
  func write<Value: Encodable>(_ value: Value) throws {
    try encode(value, at: makePlace(), path: [])
    try end(downTo: 0)
    try flush()
  }

  /// Encodes a value.
  func encode<Value: Encodable>(
    _ value: Value, at place: Place, path: @autoclosure () -> [any CodingKey]
  ) throws {
    // The type is compared too, because the cast succeeds for each empty array.
    if Value.self == [UInt8].self, let bytes = value as? [UInt8] {
      let scope = try begin(.unkeyed, at: place)
      return try bytes.withUnsafeBytes { try writeElements($0, in: scope) }
    }
    let encoder = ValueEncoder(self, at: place, path: path())
    try value.encode(to: encoder)
    if let error = encoder.error { throw error }
  }

  // MARK: Values

  /// Writes a value without contents.
  func write(_ tag: ValueTag, at place: Place) throws {
    try take(place, tag)
    try flushIfFull()
  }

  /// Writes a number that consists of bits only.
  func write<Number>(_ tag: ValueTag, _ number: Number, at place: Place) throws {
    try take(place, tag)
    append(number)
    try flushIfFull()
  }

  /// Writes a text.
  func write(_ text: String, at place: Place) throws {
    try take(place, .string)
    try append(text)
  }

  /// Begins a container, which is a value.
  func begin(_ tag: ValueTag, at place: Place) throws -> Scope {
    try take(place, tag)
    lastNumber += 1
    containers.append(
      Container(tag: tag, number: lastNumber, start: writtenCount + buffer.count))
    append(0)
    if tag == .unkeyed { append(0) }
    return Scope(depth: containers.count - 1, number: lastNumber)
  }

  /// Continues a container, and ends all containers inside it.
  ///
  /// - Parameters:
  ///   - scope: The container.
  ///   - key: The key of the next value; `nil` in a container without keys.
  /// - Returns: The place of the next value.
  /// - Throws: `OrderError` if the container has ended; `Errno` if the file cannot be written.
  func makePlace(in scope: Scope, key: String? = nil) throws -> Place {
    try resume(scope)
    containers[scope.depth].count += 1
    if let key { try append(key) }
    return makePlace()
  }

  /// Writes bytes as elements of a container without keys.
  func writeElements(_ bytes: UnsafeRawBufferPointer, in scope: Scope) throws {
    try resume(scope)
    guard !bytes.isEmpty else { return }
    containers[scope.depth].count += bytes.count
    buffer.append(ValueTag.bytes.rawValue)
    try append(bytes)
  }

  /// Returns the number of elements that a container has at this moment.
  func count(of scope: Scope) -> Int {
    isOpen(scope) ? containers[scope.depth].count : 0
  }

  // MARK: Order

  private func makePlace() -> Place {
    lastNumber += 1
    let place = Place(number: lastNumber)
    next = place
    return place
  }

  private func take(_ place: Place, _ tag: ValueTag) throws {
    guard place == next else { throw OrderError() }
    next = nil
    buffer.append(tag.rawValue)
  }

  private func isOpen(_ scope: Scope) -> Bool {
    scope.depth < containers.count && containers[scope.depth].number == scope.number
  }

  private func resume(_ scope: Scope) throws {
    guard isOpen(scope) else { throw OrderError() }
    try end(downTo: scope.depth + 1)
  }

  /// Ends the innermost containers until `depth` containers are left.
  private func end(downTo depth: Int) throws {
    // An encoder to which nothing was written has written a value without properties.
    if let place = next { _ = try begin(.keyed, at: place) }
    while containers.count > depth, let container = containers.popLast() {
      let end = writtenCount + buffer.count
      try replace(at: container.start, end - container.start - ValueTag.lengthSize)
      if container.tag == .unkeyed {
        try replace(at: container.start + ValueTag.lengthSize, container.count)
      }
    }
    try flushIfFull()
  }

  // MARK: Bytes

  private func append<Number>(_ number: Number) {
    withUnsafeBytes(of: number) { buffer += $0 }
  }

  private func append(_ text: String) throws {
    var text = text
    try text.withUTF8 { try append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends bytes and their number.
  private func append(_ bytes: UnsafeRawBufferPointer) throws {
    append(bytes.count)
    if bytes.count > Self.bufferSize {
      try flush()
      try write(bytes)
    } else {
      buffer += bytes
      try flushIfFull()
    }
  }

  private func replace(at position: Int, _ number: Int) throws {
    try withUnsafeBytes(of: number) { bytes in
      if position >= writtenCount {
        let start = position - writtenCount
        buffer.replaceSubrange(start..<start + bytes.count, with: bytes)
      } else if let address = bytes.baseAddress {
        try check(csystem_write_at(file, address, bytes.count, Int64(position)))
      }
    }
  }

  private func flushIfFull() throws {
    if buffer.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws {
    try buffer.withUnsafeBytes { try write($0) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard let address = bytes.baseAddress else { return }
    try check(csystem_write(file, address, bytes.count))
    writtenCount += bytes.count
  }

  private func check(_ error: Int32) throws(Errno) {
    if error != 0 { throw Errno(rawValue: error) }
  }
}

/// The error of a value that is encoded in an unusual order.
private struct OrderError: Error, CustomStringConvertible {
  var description: String {
    "an encoder was used twice, or a container was used after a value of an outer container"
  }
}
