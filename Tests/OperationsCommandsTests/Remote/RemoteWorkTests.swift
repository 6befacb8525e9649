// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

/// Work that this process does not serve.
private struct Unserved: RemoteWork {
  func run() -> Int { 1 }
}

@Suite("Work in another process", .timeLimit(.minutes(5)), .onOwnThread)
struct RemoteWorkTests {
  @Test("RW-1: The output of the work is the result of the operation")
  func outputIsResult() async throws {
    #expect(try await runRemote("sum") == ["42"])
  }

  @Test("RW-1: Many processes run at the same time")
  func manyRun() async throws {
    #expect(try await runRemote("sums") == ["420"])
  }

  @Test("RW-2: The work runs in a child process as an operation in a queue")
  func factsAreRight() async throws {
    let lines = try await runRemote(
      "facts", "OPQ_FIXTURE_SET", "OPQ_FIXTURE_KEPT", "OPQ_MONITOR", "OPQ_REMOTE_WORK",
      environment: ["OPQ_FIXTURE_KEPT": "kept", "OPQ_MONITOR": "ro"])
    #expect(lines == ["true true true", "OPQ_FIXTURE_KEPT=kept", "OPQ_FIXTURE_SET=set"])
  }

  @Test("RW-3: An error of the work is an error with its type and its description")
  func thrownErrorIsError() async throws {
    #expect(
      try await runRemote("throwing")
        == ["thrown: “Throwing” has thrown fixture_remote.Refused: it is refused"])
  }

  @Test("RW-6: Progress, status and log lines of the work are those of the operation")
  func reportsArrive() async throws {
    let directory = try TemporaryDirectory()
    let lines = try await runRemote("reporting", directory.file("go"))
    #expect(
      lines == [
        "3 of 10, counting \\ slowly", "10",
        #"["info last", "info printed", "warning one\ntwo"]"#,
      ])
  }

  @Test("RW-9: A retry runs a new process until the work succeeds")
  func retryRepeats() async throws {
    let directory = try TemporaryDirectory()
    #expect(try await runRemote("retry", directory.file("tries")) == ["3"])
  }

  @Test("RW-10: An executable with other contents is an error")
  func otherBuildIsError() async throws {
    let directory = try TemporaryDirectory()
    let other = directory.file("other")
    _ = try await run(
      shell: "cp '\(BuiltFolder.path(of: "fixture-remote"))' '\(other)'; echo >>'\(other)'")
    #expect(
      try await runRemote("executable", other) == [
        "otherBuild: “Sum” cannot run: the executable is a different build from that of this process"
      ])
  }

  @Test("RW-10: A copy of the executable is the same build")
  func copyIsSameBuild() async throws {
    let directory = try TemporaryDirectory()
    let copy = directory.file("copy")
    _ = try await run(shell: "cp '\(BuiltFolder.path(of: "fixture-remote"))' '\(copy)'")
    #expect(try await runRemote("executable", copy) == ["3"])
  }

  @Test("RW-11: A process whose executable was deleted can still run work")
  func deletedExecutableRuns() async throws {
    let directory = try TemporaryDirectory()
    let copy = directory.file("copy")
    _ = try await run(shell: "cp '\(BuiltFolder.path(of: "fixture-remote"))' '\(copy)'")
    #expect(try await runRemote("deleted", program: copy) == ["3"])
  }

  @Test("RW-12: Work whose type was not passed to serveRemoteWork is an error")
  func unservedTypeIsError() async throws {
    let lines = try await runRemote("unserved")
    #expect(lines.count == 1 && lines[0].hasPrefix("notServed: “Unserved” cannot run"))
  }

  @Test("RW-12: A program that has not called serveRemoteWork starts no process")
  func unservedProgramStartsNothing() async {
    let operation = RemoteOperation(Unserved(), on: .process)
    OperationQueue(name: "remote").addOperation(operation)
    let error = await #expect(throws: RemoteError.self) { try await operation.value }
    #expect(error?.code == .notServed)
  }

  @Test("RW-12: A private type runs, although its name contains an address of the process")
  func privateTypeRuns() async throws {
    #expect(try await runRemote("hidden") == ["hidden"])
  }

  @Test("RW-13: Work that cannot be decoded, and output that cannot be encoded, are errors")
  func codingFailureIsError() async throws {
    #expect(
      try await runRemote("undecodable")
        == ["workCoding: “Undecodable” cannot be encoded or decoded: it is refused"])
    #expect(
      try await runRemote("unencodable") == [
        "outputCoding: the output of “Unencodable” cannot be encoded or decoded: it is refused"
      ])
  }

  @Test("RW-15: Each process has a large output once in its memory")
  func outputIsOnceInMemory() async throws {
    // The limit applies to the private memory of each process. It is less than twice the output.
    let program = BuiltFolder.path(of: "fixture-remote")
    let result = try await run(shell: "ulimit -d 393216; '\(program)' big \(256 << 20)")
    #expect(result.text == "true\n")
  }

  @Test("RW-16: The files of a work are removed")
  func filesAreRemoved() async throws {
    let directory = try TemporaryDirectory()
    for work in ["sum", "throwing", "crashing", "exiting"] {
      _ = try await runRemote(work, "1", environment: ["TMPDIR": directory.path])
    }
    #expect(try await run(shell: "ls '\(directory.path)'").text.isEmpty)
  }

  @Test("RW-16: The files can be in a directory with any name")
  func directoryIsChosen() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("ä b'c")
    _ = try await run(Command("mkdir", [path]))
    #expect(try await runRemote("directory", path) == ["3"])
  }

  @Test("RW-16: A directory that cannot be used is an error")
  func missingDirectoryIsError() async throws {
    #expect(
      try await runRemote("directory", "/opq/no")
        == ["file: the file “/opq/no” of “Sum” cannot be used: No such file or directory"])
  }

  @Test("RW-18: Work can run code on the main actor", arguments: [nil, "1"])
  func mainActorRuns(asynchronous: String?) async throws {
    let lines = try await runRemote(
      "main-actor", environment: ["OPQ_FIXTURE_ASYNC": asynchronous])
    #expect(lines == ["true"])
  }

  @Test("RW-18: An asynchronous main serves work")
  func asynchronousMainServes() async throws {
    #expect(try await runRemote("sum", environment: ["OPQ_FIXTURE_ASYNC": "1"]) == ["42"])
  }

  @Test("RW-19: A second call of serveRemoteWork traps")
  func secondCallTrapsInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await serveRemoteWork(of: Unserved.self)
      await serveRemoteWork(of: Unserved.self)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("serveRemoteWork was called twice"))
  }

  @Test("RW-19: Two types with the same name trap")
  func sameNameTrapsInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await serveRemoteWork(of: Unserved.self, Unserved.self)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("two types have the name"))
  }

  @Test("RW-20: Work can run work in a further process")
  func workCanBeNested() async throws {
    #expect(try await runRemote("outer") == ["42"])
  }
}
