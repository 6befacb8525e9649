// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import OperationsCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The shell texts for Slurm", .timeLimit(.minutes(5)), .onOwnThread)
struct SlurmScriptTests {
  // MARK: Starts

  @Test("SL-4: A submission permits one start, even if the second start has the same id")
  func oneStart() async throws {
    let scene = try SlurmScriptScene()
    #expect(try await scene.submit(shell: "echo run >>runs") == .accepted(id: 5))
    #expect(await scene.runJob() == 0)
    #expect(await scene.runJob() == Int(SlurmExit.revoked))
    #expect(await scene.runJob(id: 6) == Int(SlurmExit.revoked))
    #expect(contents(of: scene.directory.file("runs")) == "run\n")
    #expect(scene.read().status == .exited(0))
  }

  @Test("SL-3: A text whose end was lost submits nothing")
  func cutSubmission() async throws {
    let scene = try SlurmScriptScene()
    let text = scene.submissionText(Command(shell: "echo 1\necho 2"))
    for part in 1..<20 {
      _ = try? await scene.output(String(text.prefix(text.count * part / 20)))
    }
    #expect(scene.calls(of: "sbatch") == [])
    #expect(access(scene.files.directory, F_OK) != 0)
    _ = try await scene.output(text)
    #expect(scene.calls(of: "sbatch").count == 1)
  }

  @Test("SL-14: Only the user can read the output")
  func privateOutput() async throws {
    let scene = try SlurmScriptScene()
    var command = Command(shell: "echo out; echo err >&2")
    command.errorOutput = .collected(limit: 100)
    _ = try await scene.submit(command)
    _ = await scene.runJob()
    for path in [scene.files.log, scene.files.errorLog] {
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(path)")
    }
  }

  @Test("SL-4, SL-21: A job that Slurm restarts runs once for each restart")
  func restarts() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo run >>runs; exit 3")
    #expect(await scene.runJob() == 3)
    // The first restart has not reached the wrapper.
    #expect(await scene.runJob(restart: 2) == 3)
    #expect(await scene.runJob(restart: 2) == Int(SlurmExit.revoked))
    #expect(await scene.runJob(restart: 1) == Int(SlurmExit.revoked))
    #expect(await scene.runJob(id: 6, restart: 3) == Int(SlurmExit.revoked))
    #expect(contents(of: scene.directory.file("runs")) == "run\nrun\n")
  }

  @Test("SL-4: A revoked job does nothing if it starts later")
  func revokedJob() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo run >>runs")
    #expect(try await scene.revoke() == .revoked)
    #expect(try await scene.revoke() == .revoked)
    #expect(await scene.runJob() == Int(SlurmExit.revoked))
    #expect(contents(of: scene.directory.file("runs")) == "")
  }

  @Test("SL-4: A job that has started is not revoked")
  func startedJob() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo")
    _ = await scene.runJob()
    #expect(try await scene.revoke() == .started)
  }

  @Test("SL-4: A submission that arrives after its revocation does not reach Slurm")
  func lateSubmission() async throws {
    let scene = try SlurmScriptScene()
    #expect(try await scene.revoke() == .revoked)
    #expect(
      try await scene.submit(shell: "echo") == .unclear("the submission was revoked"))
    #expect(scene.calls(of: "sbatch") == [])
    #expect(try await scene.revoke() == .revoked)
  }

  @Test("SL-4, SL-22: A job whose files were deleted does nothing if it starts again")
  func deletedFiles() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo run >>runs")
    #expect(await scene.runJob() == 0)
    _ = try await scene.output(SlurmScript.delete(scene.files))
    #expect(try await scene.names() == [])
    #expect(await scene.runJob() == Int(SlurmExit.unusableFiles))
    #expect(await scene.runJob(restart: 1) == Int(SlurmExit.unusableFiles))
    #expect(contents(of: scene.directory.file("runs")) == "run\n")
  }

  @Test("SL-22: The link of a revoked submission that may arrive later stays")
  func revocationStays() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.revoke()
    _ = try await scene.output(SlurmScript.delete(scene.files))
    #expect(try await scene.names() == ["a.opq-1"])
  }

  @Test("SL-4: A second call with the same submission does not permit a second start")
  func secondCall() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo")
    #expect(await scene.runJob() == 0)
    #expect(
      try await scene.submit(shell: "echo") == .unclear("the submission was revoked"))
    #expect(await scene.runJob() == Int(SlurmExit.revoked))
    #expect(scene.calls(of: "sbatch").count == 1)
  }

  // MARK: Cancelling

  @Test("SL-1, SL-12: Cancelling many jobs calls squeue and scancel once for all")
  func cancelTogether() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo")
    write("5 opq-1\n6 opq-2\n7 opq-other\n", to: scene.directory.file("queue"))
    let jobs: [(Int?, String)] = [(5, "opq-1"), (6, "opq-2"), (7, "opq-3"), (nil, "opq-4")]
    let requests = jobs.map { id, comment in
      SlurmCanceller.Request(
        submission: SlurmSubmission(comment: comment, name: "make", id: id), files: scene.files)
    }
    let output = try await scene.output(SlurmScript.cancel(requests, marker: "M"))
    #expect(
      SlurmAnswer.cancellations(output, marker: "M") == [
        "opq-1": .revoked(isReceived: true), "opq-2": .requested, "opq-3": .requested,
        "opq-4": .requested,
      ])
    #expect(scene.calls(of: "squeue").count == 1)
    #expect(scene.calls(of: "scancel") == ["scancel 5 6"])
    #expect(await scene.runJob() == Int(SlurmExit.revoked))
  }

  @Test("SL-1: Requests that arrive during a call are one call together")
  func cancellerCollects() async throws {
    let scene = try SlurmScriptScene()
    let canceller = SlurmCanceller(calls: SlurmCalls(prefix: scene.prefix))
    let files = scene.files
    await withTaskGroup(of: SlurmJob.Cancellation.self) { group in
      for number in 1...100 {
        let submission = SlurmSubmission(comment: "opq-\(number)", name: "make", id: number)
        group.addTask { await canceller.cancel(.init(submission: submission, files: files)) }
      }
      for await result in group { #expect(result == .requested) }
    }
    // The first call begins at once, and may contain one request only.
    let calls = scene.calls(of: "squeue").count
    print("\(calls) calls for 100 requests")
    #expect((1...5).contains(calls))
  }

  @Test("SL-12, SL-22: The file that requests the end is created only after a start")
  func stopFile() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "echo")
    let request = SlurmCanceller.Request(submission: scene.submission, files: scene.files)
    func cancel() async throws {
      _ = try await scene.output(SlurmScript.cancel([request], marker: "M"))
      _ = try await scene.output(SlurmScript.endGracePeriod(scene.files))
    }
    _ = await scene.runJob()
    try await cancel()
    #expect(contents(of: scene.files.stop) == "end\n")
    _ = try await scene.output(SlurmScript.delete(scene.files))
    try await cancel()
    #expect(try await scene.names() == [])
  }

  @Test("SL-13: The wrapper sends SIGTERM when the file appears, and SIGKILL when it has contents")
  func stopFileEndsCommand() async throws {
    let scene = try SlurmScriptScene()
    var command = Command(
      shell: "trap 'echo asked' TERM; echo begun; while :; do sleep 0.1; done")
    command.gracePeriod = .seconds(3600)
    _ = try await scene.submit(command)
    async let status = scene.runJob()
    #expect(poll(for: .seconds(60), pausing: true) { scene.log == "begun\n" })
    write("", to: scene.files.stop)
    // The shell of the command also writes that the signal has ended `sleep`.
    #expect(poll(for: .seconds(60), pausing: true) { scene.log.hasSuffix("asked\n") })
    write("end\n", to: scene.files.stop)
    _ = await status
    #expect(scene.read().status == nil)
  }

  // MARK: Files

  @Test("SL-14: A pipe that gets the output is not read")
  func pipe() async throws {
    let scene = try SlurmScriptScene()
    let path = scene.directory.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let output = SlurmLook.Output(path: path, position: 0, isTail: true, isOwn: true)
    let look = SlurmLook(files: scene.files, outputs: [output])
    let contents = SlurmAnswer.look(
      try await scene.output(SlurmScript.look(look, marker: "M")), look, marker: "M")
    #expect(contents?.parts.first?.size == 0)
    #expect(look.read().parts.first?.size == 0)
  }

  @Test("SL-19: Shared files, and files that are read with the prefix, have the same contents")
  func looks() async throws {
    let scene = try SlurmScriptScene()
    let paths = ["a", "b", "c"].map { scene.directory.file($0) }
    write(String(repeating: "x", count: 30_000), to: paths[0])
    write("short", to: paths[1])
    let outputs = paths.flatMap { path in
      [(0, true), (3, false), (40_000, false)].map { position, isTail in
        SlurmLook.Output(path: path, position: position, isTail: isTail, isOwn: true)
      }
    }
    let look = SlurmLook(files: scene.files, outputs: outputs)
    let text = SlurmScript.look(look, marker: "M")
    let contents = SlurmAnswer.look(try await scene.output(text), look, marker: "M")
    #expect(contents == look.read())
    #expect(look.read().parts.map(\.size) == [30_000, 30_000, 30_000, 5, 5, 5, nil, nil, nil])
  }

  @Test("SL-5, SL-19: A file that cannot be read does not count as a missing file")
  func unreadableFile() async throws {
    let scene = try SlurmScriptScene()
    let look = SlurmLook(files: scene.files, outputs: [])
    let text = SlurmScript.look(look, marker: "M")
    func isRead() async throws -> [Bool] {
      let contents = SlurmAnswer.look(try await scene.output(text), look, marker: "M")
      return [contents?.isRead ?? false, look.read().isRead]
    }
    #expect(try await isRead() == [true, true])
    // The user root can read any file. A folder cannot be read as a file by any user.
    _ = try await scene.submit(shell: "true")
    #expect(mkdir(scene.files.sign, 0o700) == 0)
    #expect(try await isRead() == [false, false])
  }

  @Test("SL-3: Environment variables do not change what Slurm's commands submit and cancel")
  func environment() async throws {
    let scene = try SlurmScriptScene()
    for name in ["sbatch", "scancel"] {
      let program = #"""
        env | sed -n 's/^\(SBATCH\|SCANCEL\|SQUEUE\)_/\#(name) &/p' >>"$OPQ_SCENE/variables"
        echo 5
        """#
      TestProgram.write(program, to: scene.directory.file("bin/\(name)"))
    }
    write("5 opq-1\n", to: scene.directory.file("queue"))
    let variables = """
      export SBATCH_ACCOUNT=a SBATCH_ARRAY_INX=1-2 SBATCH_ERROR=/x SBATCH_TEST_ONLY=1 SBATCH_WAIT=1
      export SCANCEL_STATE=RUNNING SCANCEL_NAME=x SQUEUE_STATES=RUNNING

      """
    _ = try await scene.output(variables + scene.submissionText(Command(shell: "true")))
    let request = SlurmCanceller.Request(submission: scene.submission, files: scene.files)
    _ = try await scene.output(variables + SlurmScript.cancel([request], marker: "M"))
    // The account is the wish of the user.
    let lines = contents(of: scene.directory.file("variables")).split(separator: "\n").sorted()
    #expect(
      Set(lines) == [
        "sbatch SBATCH_ACCOUNT=a", "sbatch SCANCEL_STATE=RUNNING", "sbatch SCANCEL_NAME=x",
        "sbatch SQUEUE_STATES=RUNNING", "scancel SBATCH_ACCOUNT=a", "scancel SBATCH_ARRAY_INX=1-2",
        "scancel SBATCH_ERROR=/x", "scancel SBATCH_TEST_ONLY=1", "scancel SBATCH_WAIT=1",
      ])
  }
}
