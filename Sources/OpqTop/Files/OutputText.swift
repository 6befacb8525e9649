// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A text for a file or for standard output. It is written in pieces that are large enough for a
/// system call.
struct OutputText: ~Copyable {
  private static let pieceSize = 1 << 16

  private var file: OutputFile?
  private var pending: [UInt8] = []

  /// Opens the output.
  ///
  /// - Parameters:
  ///   - path: The path of the new file; `nil` or `-` for standard output.
  ///   - replaces: Whether an existing file is overwritten.
  /// - Throws: `FileError` if the file cannot be created.
  init(to path: String?, replaces: Bool) throws(FileError) {
    guard let path, path != "-" else { return }
    file = try OutputFile(creating: path, replaces: replaces, .whenWhole)
  }

  /// Appends text to the output.
  mutating func write(_ text: String) throws(FileError) {
    pending += text.utf8
    if pending.count >= Self.pieceSize { try flush() }
  }

  /// Writes the remaining text, and gives the file its name. If this function is not called, the
  /// file is removed.
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
      "cannot write to standard output", errno: error,
      status: error == StandardStream.brokenPipe ? 0 : 1)
  }
}
