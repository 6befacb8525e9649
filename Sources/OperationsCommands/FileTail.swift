// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Reads the lines that a command writes to a file.
struct FileTail: Sendable {
  private static let mostBytes: Int64 = 1 << 14
  private static let mostLines = 50

  private let path: String
  /// The position after the bytes that were read.
  private var position: Int64
  private var lines = OutputLines()

  /// - Parameters:
  ///   - path: The path of the file.
  ///   - position: The position at which the command begins to write.
  init(path: String, from position: Int64) {
    self.path = path
    self.position = position
  }

  /// Returns the lines since the last call: at most 50 lines of the last 16 KiB. If earlier bytes are left out, the line
  /// in which the read part begins is left out too, unless it is the only one.
  ///
  /// - Parameter isLast: Whether a line without a line feed is complete, because the command has ended.
  /// - Returns: The complete lines; empty if the file cannot be read.
  mutating func advance(isLast: Bool) -> [String] {
    let file = csystem_open_input(path)
    guard file >= 0 else { return [] }
    defer { csystem_close(file) }
    let size = csystem_file_size(file)
    // If the command has emptied the file, its contents begin at 0.
    let first = size < position ? 0 : position
    let begin = max(first, size - Self.mostBytes)
    let isCut = begin > first
    // The beginning of a line that was read earlier does not belong to the lines that follow.
    if isCut || first < position { lines = OutputLines() }
    var read: [String] = []
    if size > begin {
      var bytes = [UInt8](repeating: 0, count: Int(size - begin))
      let count = csystem_read_file_at(file, &bytes, bytes.count, begin)
      lines.take(bytes[..<count]) { read.append($0) }
      position = begin + Int64(count)
    } else {
      position = size
    }
    if isLast { lines.end { read.append($0) } }
    if isCut, read.count > 1 { read.removeFirst() }
    return read.suffix(Self.mostLines)
  }
}
