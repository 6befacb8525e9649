// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import Dispatch
import OperationsCore

/// The thread that writes the journal of a run, and the records that it has not written.
final class JournalWriter: Sendable {
  /// A record, and the task that waits until it is on the disk.
  struct Entry {
    let record: JournalRecord
    let continuation: CheckedContinuation<RunFailure?, Never>?
  }

  struct State {
    /// The records that were appended and that the thread has not taken.
    var entries: [Entry] = []
    /// Whether the thread waits for the next record.
    var isAsleep = false
    /// Whether no further record is accepted.
    var isEnding = false
    var failure: RunFailure?
    var handlers: [@Sendable (RunFailure) -> Void] = []
  }

  /// What the thread does next.
  private enum Step {
    case write([Entry])
    case sleep
    case end
  }

  let state = Locked(State())
  private let file: Int32
  private let size: Int64
  private let path: String
  private let disk: RunDisk
  private let wakeUp = DispatchSemaphore(value: 0)
  /// A group that is empty when the thread has ended.
  private let thread = DispatchGroup()

  /// Creates a writer, whose thread has not started.
  ///
  /// - Parameters:
  ///   - file: The open journal. The thread closes it.
  ///   - size: The size of the journal in bytes.
  ///   - path: The path of the journal, for messages.
  ///   - disk: The system calls.
  init(file: Int32, size: Int64, path: String, disk: RunDisk) {
    self.file = file
    self.size = size
    self.path = path
    self.disk = disk
  }

  /// Starts the thread. If this fails, the file stays open.
  func start() throws(RunFailure) {
    thread.enter()
    // The new thread owns this reference and releases it.
    let retained = Unmanaged.passRetained(self)
    let error = csystem_start_thread(
      { Unmanaged<JournalWriter>.fromOpaque($0).takeRetainedValue().main() }, retained.toOpaque())
    guard error == 0 else {
      retained.release()
      thread.leave()
      throw RunFailure("start the thread of the journal", path, error: error)
    }
  }

  /// Adds a record. Returns why it is not written; `nil` if it was added.
  func add(_ entry: Entry) -> RunFailure? {
    let (failure, wakes) = state.withLock { state -> (RunFailure?, Bool) in
      if let failure = state.failure { return (failure, false) }
      guard !state.isEnding else { return (RunFailure("the journal \(path) was closed"), false) }
      state.entries.append(entry)
      defer { state.isAsleep = false }
      return (nil, state.isAsleep)
    }
    if wakes { wakeUp.signal() }
    return failure
  }

  /// Makes the thread end when it has written all records. A second call does nothing.
  func end() {
    let wakes = state.withLock { state in
      state.isEnding = true
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    if wakes { wakeUp.signal() }
  }

  /// Blocks the calling thread until the thread of the journal has ended.
  func waitForEnd() { thread.wait() }

  private func main() {
    csystem_set_thread_name("opq-journal")
    var text = JSONText()
    var size = size
    loop: while true {
      switch nextStep() {
      case .write(let entries):
        if let failure = write(entries, &text, &size) {
          fail(failure, entries)
        } else {
          for entry in entries { entry.continuation?.resume(returning: nil) }
        }
      case .sleep: wakeUp.wait()
      case .end: break loop
      }
    }
    cmonitor_close(file)
    thread.leave()
  }

  private func nextStep() -> Step {
    state.withLock { state in
      if !state.entries.isEmpty {
        defer { state.entries = [] }
        return .write(state.entries)
      }
      if state.isEnding { return .end }
      state.isAsleep = true
      return .sleep
    }
  }

  /// Writes and syncs records. If they cannot be written, the journal contains none of them.
  ///
  /// - Returns: Why they are not on the disk; `nil` if they are.
  private func write(_ entries: [Entry], _ text: inout JSONText, _ size: inout Int64) -> RunFailure?
  {
    text.removeAll()
    for entry in entries { entry.record.write(to: &text) }
    var error = text.bytes.withUnsafeBytes { disk.write(file, $0, size) }
    if error == 0 {
      size += Int64(text.bytes.count)
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
}
