// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// Text that goes into a file or to standard output, in pieces of a size that is worth a call.
struct OutputText: ~Copyable {
  private static let pieceSize = 1 << 16

  private var file: OutputFile?
  private var pending: [UInt8] = []

  /// Makes ready to write.
  ///
  /// - Parameters:
  ///   - path: Of the file, which is made; `nil` or `-` for standard output.
  ///   - replaces: Whether a file that is there already is written over.
  /// - Throws: A sentence where the file cannot be made.
  init(to path: String?, replaces: Bool) throws(FileError) {
    guard let path, path != "-" else { return }
    file = try OutputFile(creating: path, replaces: replaces, .whenWhole)
  }

  /// Writes text behind what was written.
  mutating func write(_ text: String) throws(FileError) {
    pending += text.utf8
    if pending.count >= Self.pieceSize { try flush() }
  }

  /// Writes what is left, and gives the file its name: without this it is taken away again.
  mutating func finish() throws(FileError) {
    try flush()
    try file?.finish()
  }

  private mutating func flush() throws(FileError) {
    defer { pending.removeAll(keepingCapacity: true) }
    guard file == nil else {
      try file?.append(pending)
      return
    }
    let error = StandardStream.output.write(String(decoding: pending, as: UTF8.self))
    guard error != 0 else { return }
    throw FileError(
      "cannot write to standard output", errno: error, status: error == EPIPE ? 0 : 1)
  }
}
