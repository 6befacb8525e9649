// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

/// Copies the file with the output of an attempt to standard output, in pieces, also while the file grows.
///
/// The memory does not depend on the size of the file.
struct OutputCopy: ~Copyable {
  /// The number of bytes that are copied at once.
  private static let pieceLength = 256 << 10

  private let path: String
  private let descriptor: Int32
  /// The number of bytes that were copied.
  private var position: Int64 = 0
  /// The conversion for a terminal; `nil` if the bytes are copied as they are.
  private var shown: ShownBytes?
  private var piece: [UInt8] = []

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - shown: The conversion for a terminal; `nil` if the bytes are copied as they are.
  /// - Returns: `nil` if there is no file.
  /// - Throws: `FileError` if the file cannot be read.
  static func open(_ path: String, _ shown: ShownBytes?) throws(FileError) -> OutputCopy? {
    let descriptor = cmonitor_open_to_read(path)
    if descriptor == -cmonitor_error_no_such_file { return nil }
    guard descriptor >= 0 else { throw failure(path, -descriptor) }
    return OutputCopy(path, descriptor: descriptor, shown)
  }

  private init(_ path: String, descriptor: Int32, _ shown: ShownBytes?) {
    self.path = path
    self.descriptor = descriptor
    self.shown = shown
  }

  deinit { cmonitor_close(descriptor) }

  private static func failure(_ path: String, _ error: Int32) -> FileError {
    FileError("cannot read \(path)", errno: error, status: 1)
  }

  /// Copies the bytes that the file has now. If the command has emptied the file, the copy continues at its beginning.
  ///
  /// - Parameters:
  ///   - isLast: Whether the command has ended, so that no further bytes are expected.
  ///   - write: Writes bytes. Returns 0, or the error number.
  /// - Returns: The number of copied bytes, and the error number of the write; 0 if there was no error.
  /// - Throws: `FileError` if the file cannot be read.
  mutating func copy(
    isLast: Bool, to write: (UnsafeRawBufferPointer) -> Int32
  ) throws(FileError) -> (count: Int64, error: Int32) {
    var status = cmonitor_file_status()
    let error = cmonitor_read_open_status(descriptor, &status)
    guard error == 0 else { throw Self.failure(path, error) }
    if status.size < position { position = 0 }
    let start = position
    if piece.isEmpty { piece = [UInt8](repeating: 0, count: Self.pieceLength) }
    while position < status.size {
      let wanted = Int(min(status.size - position, Int64(Self.pieceLength)))
      let count = cmonitor_read_some_at(descriptor, &piece, wanted, position)
      guard count >= 0 else { throw Self.failure(path, Int32(-count)) }
      // The command has emptied the file.
      guard count > 0 else { break }
      position += Int64(count)
      let error = put(piece[..<count], write)
      guard error == 0 else { return (position - start, error) }
    }
    guard isLast, let rest = shown?.end(), !rest.isEmpty else { return (position - start, 0) }
    return (position - start, rest.withUnsafeBytes(write))
  }

  private mutating func put(
    _ bytes: ArraySlice<UInt8>, _ write: (UnsafeRawBufferPointer) -> Int32
  ) -> Int32 {
    guard let text = shown?.text(of: bytes) else { return bytes.withUnsafeBytes(write) }
    return text.withUnsafeBytes(write)
  }
}
