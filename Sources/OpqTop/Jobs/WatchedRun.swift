// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobRun
import MonitorProtocol
import OperationsCommands
import Synchronization

/// A run whose runner the dashboard watches. The files of the run say what the runner does not report.
final class WatchedRun: Sendable {
  /// The maximum length of the record that all jobs have ended.
  private static let lastRecordLength = 4_096
  /// The number of times that the lock of a runner is checked after the end of its connection.
  private static let checkCount = 40
  /// The pause between two checks, in nanoseconds.
  private static let pauseOfChecks: Int64 = 5_000_000

  /// The directory of the run.
  let directory: RunDirectory
  /// The name of the job file. It is unsanitised.
  let title: String
  /// The commands that messages propose.
  let words: RunWords
  /// The path of the runner's socket.
  private let socket: String
  private let starts: Mutex<Starts>

  /// The attempts that have started.
  private struct Starts {
    var tail: JournalTail
    /// The names of the files of each attempt, by job and attempt.
    var files: [String: [Int: String]] = [:]

    /// Reads what was appended to the journal. If the journal cannot be read, nothing changes.
    mutating func update() {
      var new: [JournalRecord] = []
      try? tail.read { if $0.event == .start { new.append($0) } }
      for record in new {
        guard let job = record.job, let attempt = record.attempt else { continue }
        files[job, default: [:]][attempt] = record.files
      }
    }
  }

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - title: The name of the job file.
  ///   - words: The commands that messages propose.
  ///   - socket: The path of the runner's socket.
  init(_ directory: RunDirectory, title: String, words: RunWords, socket: String) {
    self.directory = directory
    self.title = title
    self.words = words
    self.socket = socket
    starts = Mutex(Starts(tail: JournalTail(directory)))
  }

  /// Returns whether the process that listens at a path is the runner.
  func isRunner(at path: String) -> Bool { path == socket }

  /// Whether all jobs have ended, according to the journal.
  var haveJobsEnded: Bool { Self.haveJobsEnded(of: directory) }

  /// Returns whether all jobs of a run have ended: the last record of the journal is `finish`.
  static func haveJobsEnded(of directory: RunDirectory) -> Bool {
    let file = cmonitor_open_to_read(directory.journal)
    guard file >= 0 else { return false }
    defer { cmonitor_close(file) }
    var status = cmonitor_file_status()
    guard cmonitor_read_open_status(file, &status) == 0 else { return false }
    let length = min(Int(status.size), lastRecordLength)
    var bytes = [UInt8](repeating: 0, count: length)
    let count = cmonitor_read_at(file, &bytes, length, status.size - Int64(length))
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    guard text.hasSuffix("\n"), let last = text.split(separator: "\n").last else { return false }
    // The quotation marks of a text in a record have backslashes.
    return last.contains("\"event\":\"finish\"")
  }

  /// Returns a message of the runner as the dashboard shows it. If the connection has ended because the runner has
  /// ended, the reason also says that all jobs have ended, or how to continue the run.
  func explained(_ message: MonitorMessage) -> MonitorMessage {
    guard case .ended(let reason) = message,
      Self.isReleased({ RunLock.holder(of: directory) })
    else { return message }
    let advice = haveJobsEnded ? "all jobs have ended" : "continue with: \(words.resume)"
    return .ended(reason: "\(reason); \(advice)")
  }

  /// Returns whether the runner, whose connection has ended, has released its lock. The system can close the
  /// connections of a killed process before it releases the locks, so the lock is checked for 200 milliseconds.
  ///
  /// - Parameter holder: A closure that returns the process that has the lock.
  /// - Returns: Whether no process has the lock.
  static func isReleased(_ holder: () -> Int32?) -> Bool {
    for attempt in 0..<checkCount {
      if attempt > 0 { cmonitor_sleep(pauseOfChecks) }
      if holder() == nil { return true }
    }
    return false
  }

  /// Returns the files with the output of a job; `nil` if it has not started.
  func output(of name: String) -> JobOutput? {
    guard !files(of: name).isEmpty else { return nil }
    return JobOutput(
      attemptCount: { self.files(of: name).keys.max() ?? 0 },
      path: { attempt in
        let file = self.files(of: name)[attempt]
        return file.map { self.directory.files(named: $0).log } ?? ""
      })
  }

  /// Returns the names of the files of a job's attempts.
  private func files(of job: String) -> [Int: String] {
    starts.withLock { starts in
      starts.update()
      return starts.files[job] ?? [:]
    }
  }
}
