// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import Dashboard

/// An open file with the output of a job. Any byte can be in the file, and the file can become longer or shorter while
/// it is read.
///
/// The memory that its functions need does not depend on the size of the file or on the length of its lines.
struct JobOutputFile: ~Copyable {
  /// The maximum number of bytes that are read before and after the position of a page.
  static let windowLength: UInt64 = 64 << 10
  /// The number of bytes that a search reads at once.
  private static let chunkLength: UInt64 = 256 << 10

  private let descriptor: Int32
  /// The size of the file in bytes when it was opened.
  let size: UInt64

  /// Opens a file; `nil` if it cannot be read or is not a regular file.
  init?(path: String) {
    let descriptor = cmonitor_open_to_read(path)
    guard descriptor >= 0 else { return nil }
    var status = cmonitor_file_status()
    guard cmonitor_read_open_status(descriptor, &status) == 0, status.is_regular else {
      cmonitor_close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    size = UInt64(max(0, status.size))
  }

  deinit { cmonitor_close(descriptor) }

  // MARK: Lines

  /// Reads the lines around a position.
  ///
  /// - Parameters:
  ///   - position: The position. An offset after the end of the file means the end.
  ///   - lineLimit: The maximum number of lines before the line at the position, and from this line on.
  /// - Returns: The lines, the offset after the last one, and the size of the file. The size is smaller than ``size``
  ///   if the file has become shorter.
  func lines(
    at position: OutputRequest.Position, lineLimit: Int
  ) -> (lines: [OutputPage.Line], end: UInt64, size: UInt64) {
    let place =
      switch position {
      case .offset(let offset): min(offset, size)
      case .end: size
      }
    // The starts of the first lines in the window can be found only with the bytes before the window.
    let begin = place - min(place, Self.windowLength + OutputLines.longest)
    let end = place + min(size - place, Self.windowLength)
    let bytes = read(begin..<end)
    let newSize = bytes.count < Int(end - begin) ? begin + UInt64(bytes.count) : size
    let lines = OutputLines(bytes, begin: begin, isEnd: begin + UInt64(bytes.count) == newSize)
    let page = lines.lines(around: place, limit: lineLimit)
    return (page.lines, page.end, newSize)
  }

  private func read(_ range: Range<UInt64>) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
    let count = read(into: &bytes, at: range.lowerBound, count: bytes.count)
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  private func read(into bytes: inout [UInt8], at offset: UInt64, count: Int) -> Int {
    cmonitor_read_at(descriptor, &bytes, count, Int64(offset))
  }

  // MARK: Search

  /// The result of a search.
  enum Finding: Equatable {
    /// The text is at this offset.
    case found(UInt64)
    /// The text is not in the file.
    case notFound
    /// The search has read the maximum number of bytes. It can continue at this offset.
    case limitReached(at: UInt64)
  }

  /// Searches the file, and continues at its other end. ASCII letters match in upper and lower case.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - start: The offset at which the search starts. A backward search finds matches that begin before it.
  ///   - isForward: Whether the search reads to the end of the file.
  ///   - byteLimit: The maximum number of bytes to read.
  ///   - readCount: The number of bytes that the search has read before.
  /// - Returns: The first match, or the last one for a backward search.
  func find(
    _ text: String, from start: UInt64, isForward: Bool, byteLimit: UInt64, readCount: UInt64 = 0
  ) -> Finding {
    let start = min(start, size)
    let parts = [0..<start, start..<size]
    var rest = byteLimit
    var unread = size - min(size, readCount)
    var buffer: [UInt8] = []
    for part in isForward ? parts.reversed() : parts {
      var part = part
      while !part.isEmpty {
        if unread == 0 { return .notFound }
        if rest == 0 { return .limitReached(at: isForward ? part.lowerBound : part.upperBound) }
        let count = min(UInt64(part.count), Self.chunkLength, rest, unread)
        let begin = isForward ? part.lowerBound : part.upperBound - count
        let chunk = begin..<begin + count
        if let match = find(text, in: chunk, findsLast: !isForward, &buffer) {
          return .found(match)
        }
        part = isForward ? chunk.upperBound..<part.upperBound : part.lowerBound..<begin
        rest -= count
        unread -= count
      }
    }
    return .notFound
  }

  /// Returns the offset of a match that begins in a range.
  private func find(
    _ text: String, in range: Range<UInt64>, findsLast: Bool, _ buffer: inout [UInt8]
  ) -> UInt64? {
    let needle = Array(text.utf8)
    // A match may end after the range.
    let length = range.count + needle.count - 1
    if buffer.count < length { buffer = [UInt8](repeating: 0, count: length) }
    let count = read(into: &buffer, at: range.lowerBound, count: length)
    let index = cmonitor_find_ignoring_case(buffer, count, needle, needle.count, findsLast)
    return index < 0 ? nil : range.lowerBound + UInt64(index)
  }
}
