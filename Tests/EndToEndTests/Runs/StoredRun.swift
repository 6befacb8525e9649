// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The directory of a run, read as its documentation describes it and without the code of the program.
struct StoredRun {
  /// A record of the journal.
  struct Record: Codable, Equatable {
    let event: String
    let time: Int64
    var job: String?
    var attempt: Int?
    var files: String?
    var definition: String?
    var state: String?
    var status: Int?
    var reason: String?
    var origin: String?
    var waits: Bool?
    var byRun: Bool?
    var jobs: [String]?
    var process: Int32?
    var boot: String?
    var comment: String?
    var name: String?
    var id: Int?
    var submitted: Int64?
  }

  /// The path of the directory.
  let path: String

  var id: String { String(path.split(separator: "/").last ?? "") }

  /// Returns the path of a file of the run.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Returns the contents of a file of the run; empty if it does not exist.
  func contents(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  /// The complete lines of the journal.
  var journalLines: [Substring] {
    let lines = contents("journal.jsonl").split(separator: "\n", omittingEmptySubsequences: false)
    return Array(lines.dropLast())
  }

  /// Returns the records of the journal.
  ///
  /// - Throws: The error of the decoder if a complete line is not a record.
  func records() throws -> [Record] {
    try journalLines.map { try JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
  }

  /// Returns the records of an event, in order. While the runner lives, a test can only wait for such records.
  func records(_ event: String, of job: String? = nil) -> [Record] {
    ((try? records()) ?? []).filter { $0.event == event && (job == nil || $0.job == job) }
  }

  /// Returns the last end that the journal has for a job.
  func end(of job: String) -> Record? { records("end", of: job).last }

  /// Returns the part of the names of an attempt's files that they have in common, with the directory.
  func base(of job: String, attempt: Int = 1) -> String? {
    records("start", of: job).first { $0.attempt == attempt }?.files.map { "jobs/\($0)" }
  }

  /// The process that has the run's lock; `nil` if no process has it. The test takes no lock, because a runner that
  /// starts at this moment would then refuse to run.
  var runner: Int32? {
    var facts = stat()
    guard stat(file("lock"), &facts) == 0 else { return nil }
    let locks = (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
    for line in locks.split(separator: "\n") {
      // For example: 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(facts.st_ino)") else {
        continue
      }
      return Int32(words[4])
    }
    return nil
  }

  /// Returns the process id of an attempt's shim, which the shim itself has written.
  func shim(of job: String, attempt: Int = 1) -> Int32? { process(0, of: job, attempt: attempt) }

  /// Returns the process group of an attempt's command.
  func group(of job: String, attempt: Int = 1) -> Int32? { process(1, of: job, attempt: attempt) }

  /// Returns the process id in a line of the file that the shim locks. Each line is that of a file `/proc/PID/stat`.
  private func process(_ line: Int, of job: String, attempt: Int) -> Int32? {
    guard let base = base(of: job, attempt: attempt) else { return nil }
    let lines = contents("\(base).shim").split(separator: "\n")
    return lines.dropFirst(line).first?.split(separator: " ").first.flatMap { Int32($0) }
  }

  /// Returns the exit status that an attempt's shim has written.
  func status(of job: String, attempt: Int = 1) -> Int? {
    guard let base = base(of: job, attempt: attempt) else { return nil }
    return Int(contents("\(base).status").trimmingCharacters(in: .whitespacesAndNewlines))
  }
}
