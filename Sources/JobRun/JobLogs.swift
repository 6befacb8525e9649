// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
package import JobFiles

/// The directory with the output of the jobs of a run. It has one file for each attempt with output, and only its
/// owner can read it.
package struct JobLogs: Sendable {
  /// The error that the directory cannot be created.
  package struct Failure: Error, CustomStringConvertible {
    /// The error as one sentence.
    package let description: String
  }

  /// The number of the last lines that viewers show.
  private static let shownLineCount = 50

  /// The path of the directory.
  package let path: String
  /// A text that identifies the run on this machine: the value of `OPQ_RUN`.
  package let runID: String

  /// Creates the directory in the directory for temporary files.
  ///
  /// - Throws: ``Failure`` if the directory cannot be created.
  package init() throws(Failure) {
    let directory = cmonitor_environment("TMPDIR").map { String(cString: $0) } ?? ""
    let pattern = "\(directory.isEmpty ? "/tmp" : directory)/opq-run-XXXXXX"
    var bytes = Array(pattern.utf8CString)
    let error = cmonitor_create_unique_directory(&bytes)
    guard error == 0 else {
      let reason = String(cString: cmonitor_error_text(error))
      throw Failure(
        description: "cannot create the directory \(pattern) for the output of the jobs: \(reason)")
    }
    path = String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    runID = "\(csystem_wall_nanoseconds() / 1_000_000_000)-\(path.suffix(6))"
  }

  /// Returns the path of the file for the output of an attempt.
  ///
  /// The name of the file begins with the number of the job in the plan, because an id can contain characters that a
  /// file name cannot have.
  ///
  /// - Parameters:
  ///   - job: The job.
  ///   - index: The index of the job in the plan.
  ///   - attempt: The number of the attempt; the first one is 1.
  /// - Returns: A path in the directory.
  package func file(of job: JobPlan.Job, at index: Int, attempt: Int) -> String {
    let name = job.id.utf8.prefix(80).map { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"):
        byte
      default: UInt8(ascii: "_")
      }
    }
    return "\(path)/\(index + 1)-\(String(decoding: name, as: UTF8.self)).\(attempt).log"
  }

  /// Returns the size of a file in bytes; 0 if there is no such file.
  func size(of file: String) -> Int64 {
    var status = cmonitor_file_status()
    guard cmonitor_read_status(file, false, &status) == 0, status.is_regular else { return 0 }
    return status.size
  }

  /// Returns whether a file has more lines than the last ones that viewers show.
  func isLongerThanShown(_ file: String) -> Bool {
    let size = size(of: file)
    // A file of this size probably has long lines, which viewers cut.
    guard size <= 1 << 12 else { return true }
    let descriptor = cmonitor_open_to_read(file)
    guard descriptor >= 0 else { return false }
    defer { cmonitor_close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = cmonitor_read_at(descriptor, &bytes, bytes.count, 0)
    return bytes[..<count].count { $0 == UInt8(ascii: "\n") } > Self.shownLineCount
  }

  /// Deletes a file if it is empty.
  func deleteIfEmpty(_ file: String) {
    if size(of: file) == 0 { cmonitor_delete(file) }
  }

  /// Deletes the directory if it has no file.
  ///
  /// - Returns: Whether the directory was deleted.
  @discardableResult
  package func deleteIfEmpty() -> Bool { cmonitor_delete_directory(path) == 0 }
}
