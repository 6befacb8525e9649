// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// Reads the journal of a run while a runner appends records.
///
/// The memory does not depend on the size of the journal. Lines that are damaged are ignored: ``RunHistory`` reports
/// them.
package struct JournalTail {
  /// The number of bytes that are read at once.
  private static let pieceLength = 256 << 10
  private static let lineFeed = UInt8(ascii: "\n")
  /// The key that only the records of one job have.
  private static let jobKey = Array("\"job\":".utf8)

  private let path: String
  /// The beginning of the key and the value that the records of the job have; `nil` if all records are read.
  private let jobMember: [UInt8]?
  /// The position after the last complete line.
  private var position: Int64 = 0
  private var piece: [UInt8] = []

  /// Creates a reader that begins with the first record.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - job: The id of a job, if the records of other jobs are not needed. Some of them can be read nevertheless.
  package init(_ directory: RunDirectory, job: String? = nil) {
    path = directory.journal
    jobMember = job.map { job in
      var text = JSONText()
      text.object { $0.member("job", job) }
      return Array(text.bytes.dropFirst().dropLast())
    }
  }

  /// Reads the records that were appended since the last call. A last line that is not complete is read by a later
  /// call.
  ///
  /// - Parameter body: A closure that is called with each record, in the order of the journal.
  /// - Throws: ``RunFailure`` if the journal cannot be read.
  package mutating func read(_ body: (JournalRecord) -> Void) throws(RunFailure) {
    let file = cmonitor_open_to_read(path)
    guard file >= 0 else { throw RunFailure("read the file", path, error: -file) }
    defer { cmonitor_close(file) }
    var length = Self.pieceLength
    while true {
      if piece.count < length { piece = [UInt8](repeating: 0, count: length) }
      let count = cmonitor_read_at(file, &piece, length, position)
      guard count > 0 else { return }
      if let last = piece[..<count].lastIndex(of: Self.lineFeed) {
        readLines(of: piece[...last], body)
        position += Int64(last) + 1
        length = Self.pieceLength
      } else if count == length {
        // The line is longer than the piece.
        length *= 2
      } else {
        return
      }
    }
  }

  private func readLines(of bytes: ArraySlice<UInt8>, _ body: (JournalRecord) -> Void) {
    bytes.withUnsafeBufferPointer { bytes in
      var rest = bytes
      while let length = offset(of: [Self.lineFeed], in: rest) {
        let line = UnsafeBufferPointer(rebasing: rest[..<length])
        if isNeeded(line), let record = try? JournalRecord(line: line) { body(record) }
        rest = UnsafeBufferPointer(rebasing: rest[(length + 1)...])
      }
    }
  }

  /// Returns whether a line is about the job or about the whole run. This check takes less time than reading the line.
  private func isNeeded(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let jobMember else { return true }
    // A text in a record has backslashes before its quotation marks, so that it does not contain a key.
    return offset(of: Self.jobKey, in: line) == nil || offset(of: jobMember, in: line) != nil
  }

  private func offset(of part: [UInt8], in text: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = text.baseAddress else { return nil }
    let offset = cmonitor_find_ignoring_case(start, text.count, part, part.count, false)
    return offset < 0 ? nil : offset
  }
}
