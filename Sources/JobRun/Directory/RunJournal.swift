// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import Dispatch
import OperationsCore

/// The journal of a run, to which this process appends records. Any thread may call any method.
///
/// One thread at a time writes the records. While it writes and syncs, the journal collects the records that other
/// threads append, and then writes and syncs them together. Therefore no other thread waits for the disk, except in
/// ``close()``.
package final class RunJournal: Sendable {
  /// A record, and the task that waits until it is on the disk. An entry without a record waits for the earlier ones.
  private struct Entry {
    let record: JournalRecord?
    let continuation: CheckedContinuation<RunFailure?, Never>?
  }

  private struct State {
    /// The records that were appended and that are not being written.
    var entries: [Entry] = []
    /// Whether a thread writes, or will write all entries.
    var isWriting = false
    /// Whether no further record is accepted.
    var isClosed = false
    /// The size of the file in bytes.
    var size: Int64
    var failure: RunFailure?
    var handlers: [@Sendable (RunFailure) -> Void] = []
  }

  private let file: Int32
  private let path: String
  private let disk: RunDisk
  private let state: Locked<State>
  // The threads of Dispatch execute no operations.
  private let queue = DispatchQueue(label: "opq-journal")

  /// Opens the journal of a run. If the last line is not complete, because an earlier runner ended while it wrote the
  /// line, the initializer deletes the line.
  ///
  /// - Parameter directory: The directory of the run. This process has its lock.
  /// - Throws: ``RunFailure`` if the journal cannot be opened.
  package convenience init(appendingTo directory: RunDirectory) throws(RunFailure) {
    try self.init(appendingTo: directory, disk: .system)
  }

  init(appendingTo directory: RunDirectory, disk: RunDisk) throws(RunFailure) {
    let path = directory.journal
    let file = cmonitor_open_to_append(path, false)
    guard file >= 0 else { throw RunFailure("open the journal", path, error: -file) }
    do throws(RunFailure) {
      state = Locked(State(size: try Self.cutTornLine(file, path)))
    } catch {
      cmonitor_close(file)
      throw error
    }
    self.file = file
    self.path = path
    self.disk = disk
  }

  // A thread that writes retains this object, so all records were written.
  deinit { cmonitor_close(file) }

  /// Appends a record, which is soon on the disk. After a failure or the call of ``close()``, nothing happens.
  package func append(_ record: JournalRecord) { append(record, resuming: nil) }

  /// Appends a record, and resumes a task when it and all earlier records are on the disk, or cannot be written.
  func append(
    _ record: JournalRecord, resuming continuation: CheckedContinuation<RunFailure?, Never>?
  ) {
    let entry = Entry(record: record, continuation: continuation)
    if let failure = add(entry) { continuation?.resume(returning: failure) }
  }

  /// Waits until all records that were appended before are on the disk.
  ///
  /// - Returns: Why they cannot be written; `nil` if they are on the disk.
  func flush() async -> RunFailure? {
    await withCheckedContinuation { continuation in
      let entry = Entry(record: nil, continuation: continuation)
      if let failure = add(entry) { continuation.resume(returning: failure) }
    }
  }

  /// Why the journal can no longer be written; `nil` if there was no failure.
  package var failure: RunFailure? { state.withLock { $0.failure } }

  /// Calls a closure once when the journal can no longer be written, on any thread. If this has happened, the closure
  /// is called before this method returns.
  ///
  /// - Parameter handler: A closure that does not block.
  package func whenFailed(_ handler: @escaping @Sendable (RunFailure) -> Void) {
    let failure = state.withLock { state in
      if state.failure == nil { state.handlers.append(handler) }
      return state.failure
    }
    if let failure { handler(failure) }
  }

  /// Waits until all records are on the disk or the journal has failed, and accepts no further records. Blocks the
  /// calling thread. A second call only waits.
  package func close() {
    state.withLock { $0.isClosed = true }
    // A thread that has added a record may not have called `async` yet.
    queue.sync { writeAll() }
  }
}

extension RunJournal {
  /// Adds a record. Returns why it will not be written; `nil` if it was added.
  private func add(_ entry: Entry) -> RunFailure? {
    let (failure, begins) = state.withLock { state -> (RunFailure?, Bool) in
      if let failure = state.failure { return (failure, false) }
      guard !state.isClosed else { return (RunFailure("the journal \(path) was closed"), false) }
      state.entries.append(entry)
      defer { state.isWriting = true }
      return (nil, !state.isWriting)
    }
    if begins { queue.async { self.writeAll() } }
    return failure
  }

  /// Writes records until there are none.
  private func writeAll() {
    var text = JSONText()
    while true {
      let (entries, size) = state.withLock { state in
        defer { state.entries = [] }
        state.isWriting = !state.entries.isEmpty
        return (state.entries, state.size)
      }
      if entries.isEmpty { return }
      text.removeAll()
      for entry in entries { entry.record?.write(to: &text) }
      if !text.bytes.isEmpty, let failure = write(text.bytes, at: size) {
        fail(failure, entries)
      } else {
        for entry in entries { entry.continuation?.resume(returning: nil) }
      }
    }
  }

  /// Writes and syncs lines. If they cannot be written, the journal contains none of them. If only the sync fails, the
  /// journal can contain them.
  ///
  /// - Returns: Why they are not on the disk; `nil` if they are.
  private func write(_ bytes: [UInt8], at size: Int64) -> RunFailure? {
    var error = bytes.withUnsafeBytes { disk.write(file, $0, size) }
    if error == 0 {
      state.withLock { $0.size += Int64(bytes.count) }
      error = disk.sync(file)
    }
    return error == 0 ? nil : RunFailure("write the journal", path, error: error)
  }

  /// Accepts no further records, and reports the failure to all who wait.
  private func fail(_ failure: RunFailure, _ unwritten: [Entry]) {
    let (entries, handlers) = state.withLock { state in
      state.failure = failure
      defer {
        state.entries = []
        state.handlers = []
      }
      return (state.entries, state.handlers)
    }
    for entry in unwritten + entries { entry.continuation?.resume(returning: failure) }
    for handler in handlers { handler(failure) }
  }

  /// Deletes what follows the last line break of a journal. Returns the size of the journal.
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
