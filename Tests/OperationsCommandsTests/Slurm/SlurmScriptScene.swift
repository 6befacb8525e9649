// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

@testable import OperationsCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A directory in which the shell texts run with replacements of Slurm's commands.
///
/// The replacements note their calls. `sbatch` stores the text of the job, `squeue` prints a file, and `scancel` does
/// nothing.
struct SlurmScriptScene {
  let directory: TemporaryDirectory
  /// The files of a job, in a folder that the submission creates.
  var files: SlurmFiles
  let submission = SlurmSubmission(comment: "opq-1", name: "make", id: 5)

  init() throws {
    directory = try TemporaryDirectory()
    files = SlurmFiles(base: directory.file("it's here/jobs/a"))
    mkdir(directory.file("bin"), 0o700)
    for (name, text) in [
      ("sbatch", "cat >\"$OPQ_SCENE/job\"; echo 5"),
      ("squeue", "cat \"$OPQ_SCENE/queue\" 2>/dev/null"),
      ("scancel", ":"), ("scontrol", "exit 1"),
    ] {
      let path = directory.file("bin/\(name)")
      TestProgram.write("echo \"\(name) $*\" >>\"$OPQ_SCENE/calls\"\n\(text)", to: path)
    }
  }

  /// The words before a command that uses the replacements.
  var prefix: [String] {
    ["env", "PATH=\(directory.file("bin")):/usr/bin:/bin", "OPQ_SCENE=\(directory.path)"]
  }

  /// The calls of Slurm's commands with a name.
  func calls(of name: String) -> [String] {
    contents(of: directory.file("calls")).split(separator: "\n").map { String($0) }
      .filter { $0.hasPrefix("\(name) ") }
  }

  /// Runs a text, and returns its output.
  func output(_ text: String) async throws -> [UInt8] {
    try await SlurmCalls(prefix: prefix).run(text)
  }

  /// Submits a command.
  func submit(
    _ command: Command, _ submission: SlurmSubmission? = nil
  ) async throws -> SlurmJob.Submission {
    SlurmAnswer.submission(
      try await output(submissionText(command, submission ?? self.submission)), marker: "M")
  }

  /// Returns the text that submits a command.
  func submissionText(_ command: Command, _ submission: SlurmSubmission? = nil) -> String {
    let submission = submission ?? self.submission
    let batch = SlurmBatch(
      command: command, files: files, submission: submission, directory: directory.path)
    return SlurmScript.submit(
      submission, batch: batch.text, resources: SlurmResources(), files: files, marker: "M")
  }

  /// Submits a shell text whose output is the file of the job.
  func submit(shell text: String) async throws -> SlurmJob.Submission {
    try await submit(Command(shell: text))
  }

  /// Runs the submitted job, as a node does.
  ///
  /// - Returns: The exit status of the wrapper.
  func runJob(id: Int = 5, restart: Int? = nil, _ variables: [String: String] = [:]) async -> Int {
    var command = Command("/bin/sh", [directory.file("job")])
    command.environment = variables.merging([
      "SLURM_JOB_ID": "\(id)", "SLURM_SUBMIT_DIR": directory.path,
    ]) { given, _ in given }
    if let restart { command.environment["SLURM_RESTART_COUNT"] = "\(restart)" }
    return Int(await failure(of: command)?.exitStatus ?? 0)
  }

  func revoke() async throws -> SlurmJob.Revocation {
    SlurmAnswer.revocation(
      try await output(SlurmScript.revoke(submission, files: files, marker: "M")), marker: "M")
  }

  /// Reads the files of the job.
  func read() -> SlurmFileContents { SlurmLook(files: files, outputs: []).read() }

  /// The output of the command.
  var log: String { contents(of: files.log) }

  /// The names of the files of the job.
  func names() async throws -> [String] {
    try await run(Command("ls", ["-A", files.directory])).text
      .split(separator: "\n").map { String($0) }
  }
}
