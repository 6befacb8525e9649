// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A run of which only the files exist. No process executes its jobs.
struct StoredFiles {
  private let temporary: TemporaryDirectory
  let directory: RunDirectory

  /// Creates the files of a run in a directory of their own.
  ///
  /// - Parameter jobs: The names of the jobs.
  /// - Throws: `RunFailure` if a file cannot be written.
  init(_ jobs: [String] = ["job"]) throws {
    temporary = try TemporaryDirectory()
    directory = try Self.create(jobs, in: temporary.path)
  }

  /// Creates the files of a run.
  ///
  /// - Parameters:
  ///   - jobs: The names of the jobs.
  ///   - state: The directory that has the folder of the runs.
  ///   - created: The wall clock at the creation, in nanoseconds since 1970.
  /// - Returns: The directory of the run.
  /// - Throws: `RunFailure` if a file cannot be written.
  static func create(
    _ jobs: [String], in state: String, created: Int64 = 1_800_000_000_000_000_000
  ) throws -> RunDirectory {
    let text = "jobs:\n" + jobs.map { "  \($0): {run: 'true'}\n" }.joined()
    let plan = try JobPlan(file: Array(text.utf8), name: "jobs.yaml", processorCount: 1)
    let request = RunRequest(
      file: "/project/jobs.yaml", title: "jobs.yaml", directory: "/project", created: created)
    return try RunStore.create(
      in: RunPlace(state: state), request: request, input: nil, plan: plan)
  }

  /// The directory that has the folder of the runs.
  var state: String { temporary.path }

  /// The wall clock in whole seconds, in nanoseconds since 1970.
  static var now: Int64 { Int64(time(nil)) * 1_000_000_000 }

  /// The run as the command line names it.
  var found: FoundRun { get throws { try FoundRun(directory.path, in: nil) } }

  /// Appends records to the journal.
  func append(_ records: JournalRecord...) throws {
    try append(records.map(\.line).joined(), to: directory.journal)
  }

  /// Returns the record that an attempt starts. Its files have the name `NAME.ATTEMPT`.
  static func start(_ job: String = "job", _ attempt: Int = 1) -> JournalRecord {
    .start(job, attempt: attempt, files: "\(job).\(attempt)", definition: "")
  }

  /// Returns the record that a job has ended.
  static func end(
    _ job: String = "job", _ state: JobOutcome.State = .succeeded, attempts: Int = 1,
    reason: String? = nil, byRun: Bool = false
  ) -> JournalRecord {
    let outcome = JobOutcome(
      state: state, attemptCount: attempts, exitStatus: nil, origin: nil, reason: reason,
      lastLine: nil, duration: nil, isUnneeded: false)
    return .end(job, outcome, definition: "", byRun: byRun)
  }

  /// Returns the path of the file with the output of an attempt.
  func log(_ job: String = "job", _ attempt: Int = 1) -> String {
    "\(directory.jobs)/\(job).\(attempt).log"
  }

  /// Appends text to a file, which is created if it does not exist.
  func append(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "a"))
    #expect(fputs(text, file) >= 0)
    fclose(file)
  }

  /// Locks a file as its shim does. Returns the descriptor, which the caller closes.
  func lockShim(_ job: String = "job", _ attempt: Int = 1) throws -> Int32 {
    let file = open("\(directory.jobs)/\(job).\(attempt).shim", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
    return file
  }
}
