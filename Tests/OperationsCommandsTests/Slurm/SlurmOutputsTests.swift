// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import OperationsCommands

@Suite("Reading the output of a job of Slurm", .timeLimit(.minutes(5)), .onOwnThread)
struct SlurmOutputsTests {
  private func outputs(_ output: CommandOutput = .collected(limit: 100)) -> SlurmOutputs {
    var command = Command("make")
    command.output = output
    return SlurmOutputs(
      command, files: SlurmFiles(base: "/jobs/a"), report: CommandReport(to: Operation()))
  }

  private func part(
    _ text: String, at position: Int64, size: Int64?
  ) -> SlurmFileContents.Part {
    .init(requested: position, position: position, bytes: Array(text.utf8), size: size)
  }

  @Test("SL-14: An output is complete when it was read up to its size at the end of the command")
  func complete() {
    var outputs = outputs()
    #expect(outputs.takeLast([part("abc", at: 0, size: 6)]) == .more)
    #expect(outputs.takeLast([part("def", at: 3, size: 6)]) == .nothing)
    #expect(outputs.result(isComplete: true, duration: .zero).text == "abcdef")
  }

  @Test("SL-14: An output is complete even if another process appends to it")
  func growing() {
    var outputs = outputs()
    #expect(outputs.takeLast([part("abc", at: 0, size: 6)]) == .more)
    #expect(outputs.takeLast([part("defgh", at: 3, size: 90)]) == .nothing)
  }

  @Test("SL-14: A file of the user is read once, even if another process appends to it")
  func tail() {
    var outputs = outputs(.file("/out"))
    let log = part("", at: 0, size: nil)
    #expect(outputs.takeLast([part("abc\n", at: 0, size: 4), log]) == .nothing)
  }

  @Test("SL-14: An output that cannot be read is not complete")
  func unreadable() {
    var outputs = outputs()
    #expect(outputs.takeLast([part("", at: 0, size: nil)]) == .unreadable)
    #expect(outputs.takeLast([part("", at: 0, size: 3)]) == .unreadable)
    #expect(outputs.takeLast([part("abc", at: 0, size: 3)]) == .nothing)
    #expect(!outputs.result(isComplete: false, duration: .zero).isOutputComplete)
  }

  @Test("SL-14, SL-22: If the output cannot be read, the result says so, and the files stay")
  func missingOutput() async throws {
    let scene = try SlurmScriptScene()
    // The job runs when it is submitted, and the file of its output is deleted at its end.
    TestProgram.write(
      """
      cat >"$OPQ_SCENE/job"
      SLURM_JOB_ID=5 SLURM_SUBMIT_DIR=/ sh "$OPQ_SCENE/job" >/dev/null 2>&1
      rm -f "$OPQ_SCENE"/of\\ jobs/*.log
      echo 5
      """, to: scene.directory.file("bin/sbatch"))
    let cluster = SlurmCluster(
      directory: scene.directory.file("of jobs"), commandPrefix: scene.prefix, sharesFiles: true,
      pollInterval: .seconds(1))
    let operation = CommandOperation(Command("echo", ["lost"]), on: .slurm(cluster))
    OperationQueue(name: "slurm").addOperation(operation)
    let result = try await operation.value
    #expect(!result.isOutputComplete && result.output.isEmpty)
    let names = try await run(Command("ls", [cluster.directory])).text
    #expect(names.contains(".status"))
  }
}
