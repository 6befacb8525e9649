// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard

/// The lines in a part of a file. A long line is cut into pieces, which count as lines.
///
/// A line begins after each newline. If the bytes of a whole cell of ``pieceLength`` bytes have no newline, the next
/// cell begins a line too. Whether a line begins at an offset therefore depends only on a few bytes near the offset,
/// and each part of the file has the same lines, however it is read.
struct OutputLines {
  /// The length of the cells in bytes.
  static let pieceLength: UInt64 = 1 << 10
  /// No line is longer.
  static let longest = 2 * pieceLength + 4

  private let bytes: [UInt8]
  private let begin: UInt64
  /// Whether the bytes end at the end of the file.
  private let isEnd: Bool
  /// The indexes of the bytes with which lines begin.
  private var starts: [Int] = []

  /// Finds the lines.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - begin: The offset of the first byte. If it is not 0, the lines in the first ``longest`` bytes are left out.
  ///   - isEnd: Whether the bytes end at the end of the file. Otherwise the last line is left out.
  init(_ bytes: [UInt8], begin: UInt64, isEnd: Bool) {
    self.bytes = bytes
    self.begin = begin
    self.isEnd = isEnd
    let margin = begin == 0 ? 0 : Int(Self.longest)
    let pieceLength = Int(Self.pieceLength)
    var nextCell = Int((pieceLength - Int(begin % Self.pieceLength)) % pieceLength)
    var afterNewline = 0
    for index in bytes.indices {
      var start: Int?
      if index > 0, bytes[index - 1] == UInt8(ascii: "\n") {
        afterNewline = index
        start = index
      }
      if index == nextCell {
        nextCell += pieceLength
        if index - afterNewline >= pieceLength, !isLineEnd(at: index) {
          start = characterStart(at: index)
        }
      }
      if index == 0, begin == 0 { start = 0 }
      if let start, start >= margin, start < bytes.count { starts.append(start) }
    }
  }

  /// Whether the newline of a line is at an index. A piece of a line has at least one other byte.
  private func isLineEnd(at index: Int) -> Bool {
    let newline = UInt8(ascii: "\n")
    if bytes[index] == newline { return true }
    return bytes[index] == UInt8(ascii: "\r") && index + 1 < bytes.count
      && bytes[index + 1] == newline
  }

  /// Returns the index of the first byte at or after an index that does not continue a character of UTF-8. A character
  /// has at most three such bytes.
  private func characterStart(at index: Int) -> Int {
    var start = index
    while start < min(index + 3, bytes.count), bytes[start] & 0xC0 == 0x80 { start += 1 }
    return start
  }

  /// Finds the lines around an offset.
  ///
  /// - Parameters:
  ///   - offset: An offset in the file.
  ///   - limit: The maximum number of lines before the line at the offset, and from this line on.
  /// - Returns: The lines, and the offset after the last one.
  func lines(around offset: UInt64, limit: Int) -> (lines: [OutputPage.Line], end: UInt64) {
    let count = isEnd ? starts.count : max(0, starts.count - 1)
    let place = Int(offset) - Int(begin)
    let middle = max(0, (starts[..<count].lastIndex { $0 <= place }) ?? 0)
    let range = max(0, middle - limit)..<min(count, middle + max(1, limit))
    let lines = range.map { index in
      OutputPage.Line(offset: begin + UInt64(starts[index]), text: text(of: index))
    }
    return (lines, begin + UInt64(range.isEmpty ? 0 : end(of: range.upperBound - 1)))
  }

  private func end(of index: Int) -> Int {
    index + 1 < starts.count ? starts[index + 1] : bytes.count
  }

  private func text(of index: Int) -> String {
    var line = bytes[starts[index]..<end(of: index)]
    if line.last == UInt8(ascii: "\n") {
      line.removeLast()
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
    }
    return String(decoding: line, as: UTF8.self)
  }
}
