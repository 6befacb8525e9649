// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Runs on the command line") struct FoundRunTests {
  private func message(_ body: () throws -> Void) -> (text: String, status: Int32)? {
    do {
      try body()
      return nil
    } catch let error as AttachError {
      return (error.description, error.status)
    } catch {
      return ("\(error)", -1)
    }
  }

  private func place(_ files: StoredFiles) throws -> RunPlaceOptions {
    let state = files.directory.path.dropLast("/runs/\(files.directory.id)".count)
    return try RunPlaceOptions.parse(["--state", String(state)])
  }

  @Test(
    "RD-10: The path of the directory of a run has the place and the id",
    arguments: [
      ("/a/b/runs/ID", "/a/b", "ID"), ("/runs/ID", "/", "ID"), ("runs/ID", ".", "ID"),
      (".opq/runs/ID/", ".opq", "ID"), ("../x/.opq//runs/ID", "../x/.opq", "ID"),
    ])
  func paths(path: String, state: String, id: String) {
    #expect(RunPath(path)?.state == state && RunPath(path)?.id == id)
  }

  @Test("RD-10: Other paths are not runs", arguments: ["/", "a/b", "runs", "/ID", "x/runs/"])
  func otherPaths(path: String) { #expect(RunPath(path)?.state.isEmpty != false) }

  @Test("RD-10: A run is found by its id, by the beginning of its id, and by its path")
  func words() throws {
    let files = try StoredFiles()
    let place = try place(files)
    let id = files.directory.id
    for word in [nil, id, String(id.prefix(6))] {
      let run = try FoundRun(word, in: place)
      #expect(run.directory == files.directory)
      #expect(run.operand == "\(id) --state \(place.state ?? "")")
    }
    let run = try FoundRun(files.directory.path, in: nil)
    #expect(run.directory == files.directory && run.operand == files.directory.path)
  }

  @Test("RD-10: An unknown run is one sentence with the status 3")
  func unknownRuns() throws {
    let files = try StoredFiles()
    let place = try place(files)
    for word in ["19990101", "/none/of/these", "\(files.directory.path)x"] {
      let failure = message { _ = try FoundRun(word, in: place) }
      #expect(failure?.status == 3, "\(word): \(failure?.text ?? "")")
    }
  }

  @Test("RD-10: A run without a process names the commands that show its result, with the status 3")
  func endedRun() throws {
    let files = try StoredFiles()
    let run = try files.found
    let failure = message { _ = try run.process() }
    #expect(failure?.status == 3)
    #expect(
      failure?.text == """
        no process runs the jobs of \(run.directory.id); "opq-top runs" shows their states, and \
        "opq-top log JOB --run \(files.directory.path)" shows the output of a job
        """)
    let lock = try RunLock.take(files.directory)
    #expect(try run.process() == getpid())
    lock.release()
  }

  @Test("RD-10: All commands that take a process take a run")
  func commands() throws {
    let commands: [(any ParsableCommand.Type, [String])] = [
      (AttachCommand.self, []), (DefaultCommand.self, []), (WhyCommand.self, ["1"]),
      (TreeCommand.self, ["1"]), (LogCommand.self, ["1"]), (WaitCommand.self, ["1"]),
      (CancelCommand.self, ["1"]), (SuspendCommand.self, ["net"]), (ResumeCommand.self, ["net"]),
      (RecordCommand.self, ["-o", "x"]),
    ]
    for (command, arguments) in commands {
      _ = try command.parse(arguments + ["--run", "20270101"])
      #expect(OpqTop.helpMessage(for: command).contains("--run"), "\(command)")
      #expect(throws: (any Error).self) {
        try command.parse(arguments + ["--run", "20270101", "--pid", "7"])
      }
      // The states of `wait` are other ones. It takes the path of a run.
      guard command != WaitCommand.self else { continue }
      _ = try command.parse(arguments + ["--run", "20270101", "--state", "x"])
      guard command != LogCommand.self else { continue }
      #expect(throws: (any Error).self) { try command.parse(arguments + ["--state", "x"]) }
    }
  }

  @Test(
    "RD-9: Options of log that exclude each other are mistakes",
    arguments: [
      ["--json", "--run", "x"], ["--json", "--attempt", "1"], ["--attempt", "0"],
      ["--attempt", "-1"], ["--attempt", "1", "--pid", "7"], ["--state", "x", "--socket", "y"],
      ["--attempt", "1", "--recording", "f"], ["--run", "x", "--recording", "f"],
    ])
  func logOptions(arguments: [String]) {
    #expect(throws: (any Error).self) { try LogCommand.parse(["job"] + arguments) }
  }

  @Test("RD-9: A number is the name of a job if a run is named")
  func numericJob() throws {
    _ = try LogCommand.parse(["0", "--run", "x"])
    #expect(throws: (any Error).self) { try LogCommand.parse(["0"]) }
    #expect(try LogCommand.parse(["007", "--attempt", "2"]).name == "007")
  }

  @Test(
    "RD-8: Options of runs that exclude each other are mistakes",
    arguments: [
      ["--older-than", "3d"], ["--yes"], ["--prune", "--json"], ["--prune", "--older-than", "x"],
    ])
  func runsOptions(arguments: [String]) {
    #expect(throws: (any Error).self) { try RunsCommand.parse(arguments) }
  }
}
