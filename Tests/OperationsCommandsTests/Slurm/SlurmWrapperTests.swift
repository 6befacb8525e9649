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

@Suite("The wrapper of a command on a cluster", .timeLimit(.minutes(5)), .onOwnThread)
struct SlurmWrapperTests {
  /// Runs a command with the wrapper, and returns its output.
  private func output(
    of command: Command, _ variables: [String: String] = [:]
  ) async throws -> String {
    let scene = try SlurmScriptScene()
    #expect(try await scene.submit(command) == .accepted(id: 5))
    #expect(await scene.runJob(variables) == 0)
    #expect(scene.read().status == .exited(0))
    return scene.log
  }

  // MARK: Faults

  @Test(
    "SL-15: An obstacle to the start of a command is not an exit status",
    arguments: [
      ("directory", SlurmFileContents.Obstacle.directory), ("input", .input), ("output", .output),
      ("error", .error), ("program", .program), ("file", .program),
    ])
  func obstacles(kind: String, obstacle: SlurmFileContents.Obstacle) async throws {
    let scene = try SlurmScriptScene()
    var command = Command("true")
    switch kind {
    case "directory": command.workingDirectory = "/nonexistent"
    case "input": command.input = .file("/nonexistent/a")
    case "output": command.output = .file("/nonexistent/a")
    case "error": command.errorOutput = .file("/nonexistent/a", appends: true)
    case "program": command = Command("opq-no-such-program")
    default: command = Command("./nonexistent")
    }
    _ = try await scene.submit(command)
    #expect(await scene.runJob() == 1)
    #expect(scene.read().status == .notStarted(obstacle))
  }

  @Test("SL-7: The exit status 127 of a shell is an exit status")
  func shellStatus() async throws {
    let scene = try SlurmScriptScene()
    _ = try await scene.submit(shell: "opq-no-such-program")
    #expect(await scene.runJob() == 127)
    #expect(scene.read().status == .exited(127))
  }

  @Test("SL-15: An output file is emptied unless the command appends to it")
  func outputs() async throws {
    let scene = try SlurmScriptScene()
    write("before\n", to: scene.directory.file("a"))
    write("before\n", to: scene.directory.file("b"))
    var command = Command(shell: "echo out; echo err >&2")
    command.output = .file("a")
    command.errorOutput = .file("b", appends: true)
    _ = try await scene.submit(command)
    #expect(await scene.runJob() == 0)
    #expect(contents(of: scene.directory.file("a")) == "out\n")
    #expect(contents(of: scene.directory.file("b")) == "before\nerr\n")
  }

  // MARK: Texts

  @Test(
    "SL-15: Arguments are passed as they are",
    arguments: ["a\r\nb\r", "'\u{301} $x", "", "\\"])
  func arguments(text: String) async throws {
    let printed = try await output(of: Command("printf", ["<%s>", text]))
    #expect(printed == "<\(text)>")
  }

  @Test("SL-15: Variables with any name are passed as they are, and removed")
  func variables() async throws {
    var command = Command("env", ["-0"])
    command.environment = [
      "PLAIN": "it's\r\n$HOME", "OPQ A": "1=2", "SHELLOPTS": "x", "HOME": nil, "GONE A": nil,
    ]
    let text = try await output(of: command, ["HOME": "/home", "GONE A": "1", "KEPT": "2"])
    let lines = text.utf8.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    for line in ["PLAIN=it's\r\n$HOME", "OPQ A=1=2", "SHELLOPTS=x", "KEPT=2", "SLURM_JOB_ID=5"] {
      #expect(lines.contains(line))
    }
    #expect(!lines.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("GONE") })
    #expect(lines.contains { $0.hasPrefix("PATH=") })
  }

  @Test("SL-15: Without the inherited environment, no other variable is passed, whatever its name")
  func ownVariables() async throws {
    var command = Command("/usr/bin/env", ["-0"])
    command.inheritsEnvironment = false
    command.environment = ["OPQ": "1", "OPQ A": "2"]
    let text = try await output(
      of: command, ["BASH_FUNC_module%%": "() { :; }", "A B": "x\nSLURM_FALSE=1", "OTHER": "1"])
    let lines = text.utf8.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    let others = lines.filter { !$0.hasPrefix("SLURM_JOB_ID") && !$0.hasPrefix("SLURM_SUBMIT") }
    #expect(others.sorted() == ["OPQ A=2", "OPQ=1"])
  }

  @Test("SL-15: The program is found with the path of the command")
  func path() async throws {
    let scene = try SlurmScriptScene()
    let program = scene.directory.file("opq-program")
    TestProgram.write("echo found \"$1\"", to: program)
    var command = Command("opq-program", ["x y"])
    command.environment = ["PATH": scene.directory.path]
    _ = try await scene.submit(command)
    #expect(await scene.runJob() == 0)
    #expect(scene.log == "found x y\n")
  }
}
