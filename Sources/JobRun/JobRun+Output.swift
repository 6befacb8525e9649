// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobFiles
import OperationsCommands
import OperationsCore

extension JobRun {
  /// The number of the last lines that viewers show.
  private static let shownLineCount = 50

  /// Returns the path of the file for the output of an attempt of a job.
  ///
  /// - Parameters:
  ///   - index: The index of the job in the plan.
  ///   - attempt: The number of the attempt; the first one is 1.
  /// - Returns: The path. The file may not exist.
  func outputFile(of index: Int, attempt: Int) -> String {
    files(of: index, attempt: attempt).log
  }

  /// Returns the files of an attempt. The number of a job can differ from the one in the plan of an earlier runner, so
  /// the names of attempts that were adopted or taken are those of their starts.
  private func files(of index: Int, attempt: Int) -> ShimFiles {
    let usual = directory.files(ofJob: index + 1, id: plan.jobs[index].id, attempt: attempt).files
    switch resumption.decisions[index] {
    case .adopt(attempt, let files, _), .take(attempt, let files, _): return files
    case .adoptSubmission(attempt, let files, _): return directory.files(named: files)
    case .adopt, .adoptSubmission, .take, .run, .keep, .wait: return usual
    }
  }

  /// If the log of an attempt is longer than the lines that viewers show, the last of these lines names the file.
  func nameLog(of index: Int, attempt: Int, in operation: JobOperation?) {
    let file = outputFile(of: index, attempt: attempt)
    guard isLongerThanShown(file) else { return }
    operation?.appendLogLine("the whole output is in \(file)", level: .notice)
  }

  /// Deletes the files of all attempts that are no longer useful: empty logs, and the files that only a living command
  /// needs. The files of attempts whose commands may still run remain.
  ///
  /// Call this method when all jobs have ended and the journal was closed. Before that, a process that a command has
  /// left behind may still write, and a runner that resumes the run may still need the files.
  package func deleteUselessFiles() {
    for (index, outcome) in outcomes.enumerated() {
      if resumption.unknownJobs[index] != nil { continue }
      for attempt in 0..<(outcome?.attemptCount ?? 0) {
        let files = files(of: index, attempt: attempt + 1)
        // The command of a job that was cancelled can have survived SIGKILL.
        if files.mayBeAlive { continue }
        if size(of: files.log) == 0 { cmonitor_delete(files.log) }
        cmonitor_delete(files.shim)
      }
    }
  }

  /// Returns the size of a file in bytes; `nil` if there is no such file.
  private func size(of file: String) -> Int64? {
    var status = cmonitor_file_status()
    guard cmonitor_read_status(file, false, &status) == 0, status.is_regular else { return nil }
    return status.size
  }

  /// Returns whether a file has more lines than the last ones that viewers show.
  private func isLongerThanShown(_ file: String) -> Bool {
    guard let size = size(of: file) else { return false }
    // A file of this size probably has long lines, which viewers cut.
    guard size <= 1 << 12 else { return true }
    let descriptor = cmonitor_open_to_read(file)
    guard descriptor >= 0 else { return false }
    defer { cmonitor_close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = cmonitor_read_at(descriptor, &bytes, bytes.count, 0)
    return bytes[..<max(0, count)].count { $0 == UInt8(ascii: "\n") } > Self.shownLineCount
  }
}
