// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension RunHistory {
  /// Reads the journal of a run. The time is proportional to the size of the journal.
  ///
  /// If the last line is not complete, because a runner has ended while it wrote the line or is just writing it, the
  /// line is ignored.
  ///
  /// - Parameter directory: The directory of the run.
  /// - Returns: What the journal says.
  /// - Throws: ``RunFailure`` if the journal cannot be read, or if another line is damaged. The sentence contains the
  ///   number of the line.
  package static func read(_ directory: RunDirectory) throws(RunFailure) -> RunHistory {
    if let failure = directory.ownershipFailure { throw failure }
    let bytes = try RunDisk.contents(directory.journal)
    var history = RunHistory()
    let failure = bytes.withUnsafeBufferPointer { bytes in
      JournalLines(bytes, directory).read(into: &history)
    }
    if let failure { throw failure }
    return history
  }
}

/// The lines of a journal.
private struct JournalLines {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let directory: RunDirectory

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ directory: RunDirectory) {
    self.bytes = bytes
    self.directory = directory
  }

  /// Adds all complete lines to a history. Returns why a line is refused; `nil` if all were added.
  func read(into history: inout RunHistory) -> RunFailure? {
    var (first, number) = (0, 1)
    while let end = bytes[first...].firstIndex(of: UInt8(ascii: "\n")) {
      do throws(JSONFault) {
        let record = try JournalRecord(line: UnsafeBufferPointer(rebasing: bytes[first..<end]))
        if let version = record.version, version > JournalRecord.currentVersion {
          return RunFailure("a newer opq-top has written the run \(directory.id)")
        }
        history.apply(record)
      } catch {
        return RunFailure("line \(number) of the journal \(directory.journal) is damaged")
      }
      first = end + 1
      number += 1
    }
    return nil
  }
}
