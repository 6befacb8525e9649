// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import OperationsCore

/// The journal of a run, to which this process appends records. Any thread may call any method.
///
/// A thread of the journal writes the records. While it writes and syncs, it collects the records that other threads
/// append, and then writes and syncs them together. Therefore no other thread waits for the disk, except in ``close()``.
package final class RunJournal: Sendable {
  private let writer: JournalWriter

  /// Opens the journal of a run. If the last line is not complete, because an earlier runner ended while it wrote the
  /// line, the initializer removes the line.
  ///
  /// - Parameter directory: The directory of the run. This process has its lock.
  /// - Throws: ``RunFailure`` if the journal cannot be opened.
  package convenience init(appendingTo directory: RunDirectory) throws(RunFailure) {
    try self.init(appendingTo: directory, disk: .system)
  }

  init(appendingTo directory: RunDirectory, disk: RunDisk) throws(RunFailure) {
    let file = cmonitor_open_to_append(directory.journal, false)
    guard file >= 0 else { throw RunFailure("open the journal", directory.journal, error: -file) }
    do throws(RunFailure) {
      let size = try Self.cutTornLine(file, directory.journal)
      writer = JournalWriter(file: file, size: size, path: directory.journal, disk: disk)
      try writer.start()
    } catch {
      cmonitor_close(file)
      throw error
    }
  }

  deinit { writer.end() }

  /// Appends a record, which is soon on the disk. After a failure or the call of ``close()``, nothing happens.
  package func append(_ record: JournalRecord) { append(record, resuming: nil) }

  /// Appends a record, and waits until it and all earlier records are on the disk.
  ///
  /// - Throws: ``RunFailure`` if the journal cannot be written. After a failure, all further calls fail at once.
  package func appendAndSync(_ record: JournalRecord) async throws(RunFailure) {
    let failure = await withCheckedContinuation { append(record, resuming: $0) }
    if let failure { throw failure }
  }

  /// Appends a record, and resumes a task when it and all earlier records are on the disk, or cannot be written.
  func append(
    _ record: JournalRecord, resuming continuation: CheckedContinuation<RunFailure?, Never>?
  ) {
    let entry = JournalWriter.Entry(record: record, continuation: continuation)
    if let failure = writer.add(entry) { continuation?.resume(returning: failure) }
  }

  /// Why the journal can no longer be written; `nil` if there was no failure.
  package var failure: RunFailure? { writer.state.withLock { $0.failure } }

  /// Calls a closure once when the journal can no longer be written, on any thread. If this has happened, the closure is
  /// called before this method returns.
  ///
  /// - Parameter handler: A closure that does not block.
  package func whenFailed(_ handler: @escaping @Sendable (RunFailure) -> Void) {
    let failure = writer.state.withLock { state in
      if state.failure == nil { state.handlers.append(handler) }
      return state.failure
    }
    if let failure { handler(failure) }
  }

  /// Waits until all records are on the disk, and closes the file. Blocks the calling thread. A second call only waits.
  package func close() {
    writer.end()
    writer.waitForEnd()
  }

  /// Removes what follows the last line break of a journal. Returns the size of the journal.
  private static func cutTornLine(_ file: Int32, _ path: String) throws(RunFailure) -> Int64 {
    var status = cmonitor_file_status()
    var error = cmonitor_read_open_status(file, &status)
    guard error == 0 else { throw RunFailure("read the journal", path, error: error) }
    guard status.is_regular else { throw RunFailure("\(path) is not a file") }
    var end = status.size
    var block = [UInt8](repeating: 0, count: 1 << 16)
    search: while end > 0 {
      let begin = max(0, end - Int64(block.count))
      let count = cmonitor_read_at(file, &block, Int(end - begin), begin)
      guard count == Int(end - begin) else {
        throw RunFailure("the journal \(path) cannot be read")
      }
      if let index = block[..<count].lastIndex(of: UInt8(ascii: "\n")) {
        end = begin + Int64(index) + 1
        break search
      }
      end = begin
    }
    guard end < status.size else { return end }
    error = cmonitor_set_size(file, end)
    guard error == 0 else { throw RunFailure("write the journal", path, error: error) }
    return end
  }
}
