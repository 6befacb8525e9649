// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

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
    if let process = Int(contents(of: file)) { #expect(!isAlive(process)) }
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
}
