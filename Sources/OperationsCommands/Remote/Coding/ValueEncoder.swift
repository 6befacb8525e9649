// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Encodes one value with a ``ValueWriter``.
final class ValueEncoder: Encoder {
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  /// The error that a method without `throws` has found; `nil` if there is none.
  private(set) var error: (any Error)?

  private let writer: ValueWriter
  private let place: ValueWriter.Place
  /// The container of the value. The superclass of a class may request the same container again.
  private var container: (tag: ValueTag, scope: ValueWriter.Scope)?

  init(_ writer: ValueWriter, at place: ValueWriter.Place, path: [any CodingKey]) {
    self.writer = writer
    self.place = place
    codingPath = path
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(
      KeyedValueWriter<Key>(writer: writer, scope: scope(.keyed), codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    UnkeyedValueWriter(writer: writer, scope: scope(.unkeyed), codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueWriter(writer: writer, place: place, codingPath: codingPath)
  }

  /// Begins the container, or returns the one that was begun. If neither is possible, using the result throws the
  /// error.
  private func scope(_ tag: ValueTag) -> Result<ValueWriter.Scope, any Error> {
    if let container, container.tag == tag { return .success(container.scope) }
    let scope = Result { try writer.begin(tag, at: place) }
    switch scope {
    case .success(let scope): container = (tag, scope)
    case .failure(let error): self.error = error
    }
    return scope
  }
}

/// The key of an element without a key, in messages.
struct IndexKey: CodingKey {
  let index: Int

  init(_ index: Int) { self.index = index }
  init?(intValue: Int) { index = intValue }
  init?(stringValue: String) { nil }

  var intValue: Int? { index }
  var stringValue: String { "\(index)" }
}

private struct KeyedValueWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: ValueWriter
  let scope: Result<ValueWriter.Scope, any Error>
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { try writer.write(.null, at: place(key)) }
  func encode(_ value: Bool, forKey key: Key) throws {
    try writer.write(value ? .yes : .no, at: place(key))
  }
  func encode(_ value: String, forKey key: Key) throws { try writer.write(value, at: place(key)) }
  func encode(_ value: Double, forKey key: Key) throws {
    try writer.write(.double, value, at: place(key))
  }
  func encode(_ value: Float, forKey key: Key) throws {
    try writer.write(.float, value, at: place(key))
  }
  func encode(_ value: Int128, forKey key: Key) throws { try encodeInteger(value, key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try encodeInteger(value, key) }
  func encode<Number: FixedWidthInteger & Encodable>(_ value: Number, forKey key: Key) throws {
    try encodeInteger(value, key)
  }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try writer.encode(value, at: place(key), path: codingPath + [key])
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(
      KeyedValueWriter<NestedKey>(
        writer: writer, scope: nested(.keyed, key), codingPath: codingPath + [key]))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    UnkeyedValueWriter(
      writer: writer, scope: nested(.unkeyed, key), codingPath: codingPath + [key])
  }

  func superEncoder() -> any Encoder { superEncoder(key: "super", path: codingPath) }
  func superEncoder(forKey key: Key) -> any Encoder {
    superEncoder(key: key.stringValue, path: codingPath + [key])
  }

  private func superEncoder(key: String, path: [any CodingKey]) -> any Encoder {
    writer.encoder(path) { try writer.makePlace(in: scope.get(), key: key) }
  }

  private func place(_ key: Key) throws -> ValueWriter.Place {
    try writer.makePlace(in: scope.get(), key: key.stringValue)
  }
  private func nested(_ tag: ValueTag, _ key: Key) -> Result<ValueWriter.Scope, any Error> {
    Result { try writer.begin(tag, at: place(key)) }
  }
  private func encodeInteger<Number: FixedWidthInteger>(_ value: Number, _ key: Key) throws {
    try writer.writeInteger(value, at: place(key))
  }
}

private struct UnkeyedValueWriter: UnkeyedEncodingContainer {
  let writer: ValueWriter
  let scope: Result<ValueWriter.Scope, any Error>
  let codingPath: [any CodingKey]

  var count: Int { (try? scope.get()).map { writer.count(of: $0) } ?? 0 }

  func encodeNil() throws { try writer.write(.null, at: place()) }
  func encode(_ value: Bool) throws { try writer.write(value ? .yes : .no, at: place()) }
  func encode(_ value: String) throws { try writer.write(value, at: place()) }
  func encode(_ value: Double) throws { try writer.write(.double, value, at: place()) }
  func encode(_ value: Float) throws { try writer.write(.float, value, at: place()) }
  func encode(_ value: Int128) throws { try writer.writeInteger(value, at: place()) }
  func encode(_ value: UInt128) throws { try writer.writeInteger(value, at: place()) }
  func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) throws {
    try writer.writeInteger(value, at: place())
  }
  func encode<Value: Encodable>(_ value: Value) throws {
    let path = codingPath + [IndexKey(count)]
    try writer.encode(value, at: place(), path: path)
  }
  func encode<Bytes: Sequence>(contentsOf bytes: Bytes) throws where Bytes.Element == UInt8 {
    let isWritten: Void? = try bytes.withContiguousStorageIfAvailable {
      try writer.writeElements(UnsafeRawBufferPointer($0), in: scope.get())
    }
    if isWritten == nil {
      try Array(bytes).withUnsafeBytes { try writer.writeElements($0, in: scope.get()) }
    }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let path = codingPath + [IndexKey(count)]
    return KeyedEncodingContainer(
      KeyedValueWriter<NestedKey>(writer: writer, scope: nested(.keyed), codingPath: path))
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let path = codingPath + [IndexKey(count)]
    return UnkeyedValueWriter(writer: writer, scope: nested(.unkeyed), codingPath: path)
  }
  func superEncoder() -> any Encoder {
    writer.encoder(codingPath + [IndexKey(count)]) { try place() }
  }

  private func place() throws -> ValueWriter.Place { try writer.makePlace(in: scope.get()) }
  private func nested(_ tag: ValueTag) -> Result<ValueWriter.Scope, any Error> {
    Result { try writer.begin(tag, at: place()) }
  }
}

private struct SingleValueWriter: SingleValueEncodingContainer {
  let writer: ValueWriter
  let place: ValueWriter.Place
  let codingPath: [any CodingKey]

  func encodeNil() throws { try writer.write(.null, at: place) }
  func encode(_ value: Bool) throws { try writer.write(value ? .yes : .no, at: place) }
  func encode(_ value: String) throws { try writer.write(value, at: place) }
  func encode(_ value: Double) throws { try writer.write(.double, value, at: place) }
  func encode(_ value: Float) throws { try writer.write(.float, value, at: place) }
  func encode(_ value: Int128) throws { try writer.writeInteger(value, at: place) }
  func encode(_ value: UInt128) throws { try writer.writeInteger(value, at: place) }
  func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) throws {
    try writer.writeInteger(value, at: place)
  }
  func encode<Value: Encodable>(_ value: Value) throws {
    try writer.encode(value, at: place, path: codingPath)
  }
}

extension ValueWriter {
  /// Writes an integer.
  fileprivate func writeInteger<Number: FixedWidthInteger>(
    _ value: Number, at place: Place
  ) throws {
    try write(ValueTag(of: Number.self), value, at: place)
  }

  /// Creates the encoder of the next value of a container.
  fileprivate func encoder(
    _ path: [any CodingKey], _ makePlace: () throws -> Place
  ) -> any Encoder {
    // If this is not the next place in the file, writing the first value throws the error.
    ValueEncoder(self, at: (try? makePlace()) ?? .none, path: path)
  }
}
