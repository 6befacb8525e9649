// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The last lines that a command has written to a file.
enum FileTail {
  private static let mostBytes: Int64 = 1 << 14
  private static let mostLines = 50

  /// Returns the last lines of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - position: The position at which the command has begun to write.
  /// - Returns: The lines, without the line in which the read part of the file begins unless it is the first one. Empty
  ///   if the file cannot be read.
  static func lines(of path: String, from position: Int64) -> [String] {
    let file = csystem_open_input(path)
    guard file >= 0 else { return [] }
    defer { csystem_close(file) }
    let size = csystem_file_size(file)
    // If the command has emptied the file, its contents begin at 0.
    let first = size < position ? 0 : position
    let begin = max(first, size - mostBytes)
    guard size > begin else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(size - begin))
    let count = csystem_read_file_at(file, &bytes, bytes.count, begin)
    var lines: [String] = []
    var parts = OutputLines()
    parts.take(bytes[..<count]) { lines.append($0) }
    parts.end { lines.append($0) }
    if begin > first, lines.count > 1 { lines.removeFirst() }
    return lines.suffix(mostLines)
  }
}
