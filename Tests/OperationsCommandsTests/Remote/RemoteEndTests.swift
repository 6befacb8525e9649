// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The end of work in another process", .timeLimit(.minutes(5)), .onOwnThread)
struct RemoteEndTests {
  @Test("RW-4: A crash is an error with the signal and the last lines, and this process continues")
  func crashIsError() async throws {
    let lines = try await runRemote("crashing")
    try #require(lines.count == 2)
    #expect(lines[0].hasPrefix("signal: “Crashing” was ended by signal "))
    #expect(lines[0].hasSuffix("Fatal error: it is broken"))
    #expect(lines[1].hasPrefix("line 4; line 5; "))
  }

  @Test("RW-5: An exit without a result is an error with the last line", arguments: [0, 3])
  func exitIsError(status: Int) async throws {
    #expect(
      try await runRemote("exiting", "\(status)") == [
        "noResult: “Exiting” ended with exit status \(status) and without a result: leaving"
      ])
  }

  @Test("RW-5: A program that does not call serveRemoteWork is an error")
  func foreignProgramIsError() async throws {
    #expect(
      try await runRemote("executable", "/bin/true")
        == ["noResult: “Sum” ended with exit status 0 and without a result"])
  }

  @Test("RW-7: The output of a process that crashes while it exits is the result")
  func outputPrecedesCrash() async throws {
    #expect(try await runRemote("crashing-at-exit") == ["5"])
  }

  @Test("RW-8: Cancelling cancels the task of the work")
  func cancellationArrives() async throws {
    let directory = try TemporaryDirectory()
    #expect(
      try await runRemote("cancelling", directory.file("started"))
        == ["true failure(Swift.CancellationError())"])
  }

  @Test("RW-8: The output of a cancelled work is the result")
  func cancelledOutputCounts() async throws {
    let directory = try TemporaryDirectory()
    #expect(
      try await runRemote("cancelling", directory.file("started"), "returns")
        == ["true success(1)"])
  }

  @Test("RW-8: After the grace period, SIGKILL ends work that ignores its cancellation")
  func stubbornWorkIsKilled() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("started")
    #expect(
      try await runRemote("cancelling", file, "stubborn")
        == ["true failure(Swift.CancellationError())"])
    #expect(!isAlive(try #require(Int(contents(of: file)))))
  }

  @Test("RW-9: A timeout ends the process")
  func timeoutEndsProcess() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("started")
    #expect(
      try await runRemote("timeout", file)
        == ["OperationTimeoutError: The operation has not finished within 0.2 seconds."])
    #expect(!isAlive(try #require(Int(contents(of: file)))))
  }

  @Test("RW-17: The process ends, and its files are removed, if this process ends")
  func orphanEnds() async throws {
    let directory = try TemporaryDirectory()
    let (file, files) = (directory.file("started"), directory.file("files"))
    _ = try await run(shell: "mkdir '\(files)'")
    await #expect(throws: CommandError.self) {
      try await runRemote("orphan", file, environment: ["TMPDIR": files])
    }
    let process = try #require(Int(contents(of: file)))
    #expect(poll(for: .seconds(30), pausing: true) { !isAlive(process) })
    #expect(try await run(shell: "ls '\(files)'").text.isEmpty)
  }

  @Test("RW-17: A process that starts after this process has ended runs no work, and ends")
  func lateOrphanEnds() async throws {
    let directory = try TemporaryDirectory()
    let (file, files) = (directory.file("started"), directory.file("files"))
    let (program, waiting) = (directory.file("program"), directory.file("waiting"))
    let gate = directory.file("gate")
    _ = try await run(shell: "mkdir '\(files)'")
    TestProgram.write(
      """
      echo $$ >'\(waiting).new'
      mv '\(waiting).new' '\(waiting)'
      while ! [ -e '\(gate)' ]; do sleep 0.05; done
      exec '\(BuiltFolder.path(of: "fixture-remote"))'
      """, to: program)
    await #expect(throws: CommandError.self) {
      try await runRemote("late-orphan", program, file, waiting, environment: ["TMPDIR": files])
    }
    let process = try #require(Int(contents(of: waiting).filter { $0 != "\n" }))
    #expect(isAlive(process))
    write("", to: gate)
    let hasEnded = poll(for: .seconds(30), pausing: true) { !isAlive(process) }
    #expect(hasEnded)
    if !hasEnded { kill(pid_t(process), SIGKILL) }
    #expect(try await run(shell: "ls '\(files)'").text.isEmpty)
  }

  // MARK: Privileges

  /// Creates a copy of the fixture that another user owns, and that runs with the privileges of this user.
  private func makePrivileged(in directory: TemporaryDirectory) async throws -> String {
    let copy = directory.file("copy")
    let program = BuiltFolder.path(of: "fixture-remote")
    _ = try await run(
      shell: "cp '\(program)' '\(copy)' && chown 65534 '\(copy)' && chmod u+s '\(copy)'")
    return copy
  }

  @Test(
    "RW-22: A program with other privileges than its user runs no work in another process",
    .enabled(if: geteuid() == 0, "only root can be another user"))
  func privilegedProgramRunsNoWork() async throws {
    let directory = try TemporaryDirectory()
    let program = try await makePrivileged(in: directory)
    #expect(
      try await runRemote("sum", program: program) == [
        "privileges: “Sum” cannot run: this program has more privileges than the user that started it"
      ])
  }

  @Test(
    "RW-22: A program with other privileges that is started for work ends",
    .enabled(if: geteuid() == 0, "only root can be another user"))
  func privilegedProgramEnds() async throws {
    let directory = try TemporaryDirectory()
    let program = try await makePrivileged(in: directory)
    let error = await #expect(throws: CommandError.self) {
      try await runRemote("sum", program: program, environment: [RemoteFiles.variable: "/none"])
    }
    #expect(error?.exitStatus == 1)
    #expect(error?.lastLine?.hasPrefix("this program cannot run work in another process") == true)
  }
}
