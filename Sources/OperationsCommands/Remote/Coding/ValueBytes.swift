// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The bytes of encoded values, in memory or in a file. One task at a time may use them.
///
/// A file is not mapped into memory: if another machine shortens it or its file system fails, a mapped file would end
/// this process.
final class ValueBytes {
  private enum Source {
    case memory(UnsafeRawBufferPointer)
    case file(Int32)
  }

  /// The number of bytes of a file that are read at once. More bytes of one value are read without a copy.
  private static let windowSize = 1 << 16

  /// The number of bytes.
  let count: Int
  private let source: Source
  /// A part of the file, and the position at which it begins.
  private var window: [UInt8] = []
  private var start = 0

  /// Creates bytes in memory. The caller keeps them there.
  init(_ memory: UnsafeRawBufferPointer) {
    source = .memory(memory)
    count = memory.count
  }

  /// Creates the bytes of a file.
  ///
  /// - Parameter file: The descriptor. The caller closes it after the last use.
  init(ofFile file: Int32) {
    source = .file(file)
    count = Int(max(0, csystem_file_size(file)))
  }

  /// Copies bytes.
  ///
  /// - Parameters:
  ///   - position: The position of the first byte.
  ///   - target: The memory that all bytes are copied to.
  /// - Throws: `DecodingError` if there are fewer bytes, or if the file cannot be read.
  func copy(at position: Int, to target: UnsafeMutableRawBufferPointer) throws {
    guard position >= 0, target.count <= count, position <= count - target.count else {
      throw Self.damage
    }
    switch source {
    case .memory(let memory):
      let part = memory[position...].prefix(target.count)
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
    case .file(let file) where target.count > Self.windowSize:
      try Self.read(file, at: position, to: target)
    case .file(let file):
      try load(position..<position + target.count, of: file)
      window.withUnsafeBytes { window in
        let part = window[(position - start)...].prefix(target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
      }
    }
  }

  /// Returns a byte.
  ///
  /// - Throws: `DecodingError` if there is no such byte, or if the file cannot be read.
  func byte(at position: Int) throws -> UInt8 {
    var byte: UInt8 = 0
    try withUnsafeMutableBytes(of: &byte) { try copy(at: position, to: $0) }
    return byte
  }

  /// Reads a part of the file that contains a range, unless the present part does.
  private func load(_ range: Range<Int>, of file: Int32) throws {
    if range.lowerBound >= start, range.upperBound <= start + window.count { return }
    let size = min(Self.windowSize, count - range.lowerBound)
    let loaded = try [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
      let whole = UnsafeMutableRawBufferPointer(buffer)
      let target = UnsafeMutableRawBufferPointer(rebasing: whole[..<size])
      try Self.read(file, at: range.lowerBound, to: target)
      initializedCount = size
    }
    (window, start) = (loaded, range.lowerBound)
  }

  private static func read(
    _ file: Int32, at position: Int, to target: UnsafeMutableRawBufferPointer
  ) throws {
    guard let address = target.baseAddress else { return }
    guard csystem_read_file_at(file, address, target.count, Int64(position)) == target.count else {
      throw damage
    }
  }

  /// The error of bytes that were not written by a ``ValueWriter``, or that cannot be read.
  static var damage: DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: [], debugDescription: "the file is damaged"))
  }
}
