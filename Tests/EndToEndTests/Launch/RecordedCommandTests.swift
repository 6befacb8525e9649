// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of `opq-top record -o FILE -- COMMAND`.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct RecordedCommandTests {
  private func record(
    _ scene: LaunchScene, _ words: [String], into name: String = "run.opq",
    _ options: [String] = []
  ) throws -> PseudoTerminal.Ending? {
    try scene.run(["record", "-o", scene.file(name)] + options + ["--"] + words)
  }

  @Test("All operations of a program that ends at once are recorded", arguments: 1...20)
  func shortProgram(round: Int) throws {
    let scene = try LaunchScene()
    let ending = try record(scene, [LaunchScene.program, "exit", "0"])
    #expect(ending == .status(0), "\(scene.contents("errors"))")
    #expect(scene.contents("output") == "the batch has finished\n")
    #expect(scene.contents("errors").contains("the process has exited"))
    try scene.expectBatch(in: "run.opq")
  }

  @Test(
    "All operations of queues that several threads create at the same time are recorded",
    arguments: 1...5)
  func concurrentQueues(round: Int) throws {
    let scene = try LaunchScene()
    #expect(try record(scene, [LaunchScene.program, "threads"]) == .status(0))
    let state = try scene.recorded("run.opq")
    #expect(state.operations.all.count { $0.state == .finished } == 40)
  }

  @Test("A program that a shell starts is recorded")
  func shellWrapper() throws {
    let scene = try LaunchScene()
    let ending = try record(scene, ["sh", "-c", "'\(LaunchScene.program)' exit 0; exit 4"])
    #expect(ending == .status(4), "\(scene.contents("errors"))")
    try scene.expectBatch(in: "run.opq")
  }

  @Test("If several processes of a command listen, the first is recorded, and the others run")
  func severalProcesses() throws {
    let scene = try LaunchScene()
    let one = "'\(LaunchScene.program)' exit 0"
    #expect(try record(scene, ["sh", "-c", "\(one); \(one); \(one)"]) == .status(0))
    #expect(scene.contents("errors").contains("2 more processes of the command listened"))
    try scene.expectBatch(in: "run.opq")
  }

  @Test("A program that starts late is recorded, and a sentence says that the viewer waits for it")
  func slowStart() throws {
    let scene = try LaunchScene()
    #expect(mkfifo(scene.file("gate"), 0o600) == 0)
    let script = "read line <'\(scene.file("gate"))'; exec '\(LaunchScene.program)' exit 0"
    let window = try scene.start(
      ["record", "-o", scene.file("run.opq"), "--", "sh", "-c", script], input: "/dev/null")
    #expect(scene.wait(for: "opq-top: waiting for \"sh\" (process ", in: "errors"))
    #expect(scene.contents("errors").contains(" to listen; does it use OperationsMonitor?\n"))
    try "go\n".write(toFile: scene.file("gate"), atomically: false, encoding: .utf8)
    #expect(window.waitForEnd() == .status(0))
    try scene.expectBatch(in: "run.opq")
  }

  @Test("The status of the command is that of opq-top, and a signal that ended it ends opq-top")
  func endings() throws {
    let scene = try LaunchScene()
    #expect(try record(scene, [LaunchScene.program, "exit", "3"], into: "a") == .status(3))
    #expect(
      try record(scene, [LaunchScene.program, "die", "\(SIGTERM)"], into: "b") == .signal(SIGTERM))
    #expect(
      try record(scene, [LaunchScene.program, "die", "\(SIGKILL)"], into: "c") == .signal(SIGKILL))
    try scene.expectBatch(in: "a")
  }

  @Test("Signals are passed on to the command", arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
  func signals(number: Int32) throws {
    let scene = try LaunchScene()
    let window = try scene.start([
      "record", "-o", scene.file("run.opq"), "--", LaunchScene.program, "wait",
    ])
    #expect(scene.wait(for: "the batch has finished", in: "output"))
    window.signal(number)
    #expect(window.waitForEnd() == .status(10 + number))
    try scene.expectBatch(in: "run.opq")
  }

  @Test(
    "If the terminal's window is closed, the command receives SIGHUP, and the recording is completed"
  )
  func closedWindow() throws {
    let scene = try LaunchScene()
    let window = try scene.start([
      "record", "-o", scene.file("run.opq"), "--", LaunchScene.program, "wait",
    ])
    #expect(scene.wait(for: "the batch has finished", in: "output"))
    window.hangUp()
    #expect(window.waitForEnd() == .status(10 + SIGHUP))
    try scene.expectBatch(in: "run.opq")
  }

  @Test("A key that interrupts reaches the command once, and the recording is completed")
  func interruptKey() throws {
    let scene = try LaunchScene()
    let window = try scene.start([
      "record", "-o", scene.file("run.opq"), "--", LaunchScene.program, "wait",
    ])
    #expect(scene.wait(for: "the batch has finished", in: "output"))
    window.type("\u{3}")
    #expect(window.waitForEnd() == .status(10 + SIGINT))
    try scene.expectBatch(in: "run.opq")
  }

  @Test("A key that interrupts also reaches a program that a shell has started")
  func interruptKeyForShell() throws {
    let scene = try LaunchScene()
    let window = try scene.start([
      "record", "-o", scene.file("run.opq"), "--", "bash", "-c",
      "'\(LaunchScene.program)' wait; exit 5",
    ])
    #expect(scene.wait(for: "the batch has finished", in: "output"))
    window.type("\u{3}")
    // The program handles the signal and exits, so the shell continues.
    #expect(window.waitForEnd() == .status(5))
    try scene.expectBatch(in: "run.opq")
  }

  /// Records a program that a shell has started, and ends the shell with a signal to opq-top. Returns the terminal of
  /// opq-top, and the process id of the program.
  private func recordWithoutShell(
    _ scene: LaunchScene
  ) throws -> (window: PseudoTerminal, program: Int32) {
    let script =
      "echo $$ >'\(scene.file("shell"))'; '\(LaunchScene.program)' wait &"
      + " echo $! >'\(scene.file("id"))'; wait"
    let window = try scene.start(
      ["record", "-o", scene.file("run.opq"), "--", "sh", "-c", script], input: "/dev/null")
    #expect(scene.wait(for: "the batch has finished", in: "output"))
    #expect(scene.wait(for: "\n", in: "id"))
    window.signal(SIGTERM)
    let shell = try #require(Int32(scene.contents("shell").dropLast()))
    #expect(poll(for: .seconds(60)) { kill(shell, 0) != 0 })
    return (window, try #require(Int32(scene.contents("id").dropLast())))
  }

  @Test("If a signal ends the shell that has started the program, the recording continues")
  func signalForShell() throws {
    let scene = try LaunchScene()
    let (window, program) = try recordWithoutShell(scene)
    #expect(kill(program, SIGUSR1) == 0)
    #expect(window.waitForEnd() == .signal(SIGTERM))
    try scene.expectBatch(in: "run.opq")
    #expect(try scene.isComplete("run.opq"))
  }

  @Test("After a signal has ended the shell, a second signal ends opq-top, and not the program")
  func secondSignal() throws {
    let scene = try LaunchScene()
    let (window, program) = try recordWithoutShell(scene)
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .signal(SIGTERM))
    #expect(kill(program, SIGUSR1) == 0)
    try scene.expectBatch(in: "run.opq")
  }

  @Test(
    "Without standard streams, a command is recorded, and its output does not reach the recording",
    arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
  func closedStreams(redirections: String) throws {
    let scene = try LaunchScene()
    let line =
      "exec '\(BuiltProgram.path)' record -o '\(scene.file("run.opq"))' --command-output"
      + " '\(scene.file("log"))' -- '\(LaunchScene.program)' exit 0 \(redirections)"
    #expect(try scene.run(["-c", line], of: "/bin/bash") == .status(0))
    #expect(scene.contents("log") == "the batch has finished\n")
    try scene.expectBatch(in: "run.opq")
    #expect(try scene.isComplete("run.opq"))
  }

  @Test("The command has the standard input of opq-top")
  func standardInput() throws {
    let scene = try LaunchScene()
    try "one\ntwo\n".write(toFile: scene.file("input"), atomically: true, encoding: .utf8)
    let ending = try scene.run(
      ["record", "-o", scene.file("run.opq"), "--", LaunchScene.program, "read"],
      input: scene.file("input"))
    #expect(ending == .status(0))
    #expect(scene.contents("output") == "the batch has finished\nread: one\nread: two\n")
  }

  @Test("The output of the command goes to a file if one is named")
  func namedOutput() throws {
    let scene = try LaunchScene()
    let options = ["--command-output", scene.file("log")]
    let words = ["sh", "-c", "echo to errors >&2; exec '\(LaunchScene.program)' exit 0"]
    #expect(try record(scene, words, options) == .status(0))
    #expect(scene.contents("log") == "to errors\nthe batch has finished\n")
    #expect(scene.contents("output") == "")
    var facts = stat()
    #expect(stat(scene.file("log"), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    #expect(stat(scene.file("run.opq"), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    // An existing file is not overwritten.
    #expect(try record(scene, words, into: "second", options) == .status(2))
    #expect(scene.contents("errors").contains("log already exists; use --force to overwrite it"))
    #expect(try record(scene, words, into: "second", options + ["--force"]) == .status(0))
  }

  @Test("If the command does not exist, --force does not change the file for its output")
  func outputOfAbsentCommand() throws {
    let scene = try LaunchScene()
    try "kept".write(toFile: scene.file("log"), atomically: true, encoding: .utf8)
    let options = ["--force", "--command-output", scene.file("log")]
    #expect(try record(scene, ["nosuch-command"], options) == .status(127))
    #expect(scene.contents("log") == "kept")
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.directory.path)
    #expect(names.filter { $0.hasPrefix("log") } == ["log"])
    // Without an existing file, no file remains.
    let others = ["--command-output", scene.file("other")]
    #expect(try record(scene, ["nosuch-command"], others) == .status(127))
    #expect(access(scene.file("other"), F_OK) != 0)
  }

  @Test("A link to a file that does not exist is not followed for the output")
  func danglingLink() throws {
    let scene = try LaunchScene()
    #expect(symlink(scene.file("target"), scene.file("link")) == 0)
    let options = ["--force", "--command-output", scene.file("link")]
    #expect(try record(scene, ["touch", scene.file("started")], options) == .status(2))
    #expect(scene.contents("errors").hasPrefix("opq-top: cannot create "))
    #expect(access(scene.file("target"), F_OK) != 0 && access(scene.file("started"), F_OK) != 0)
    var facts = stat()
    #expect(lstat(scene.file("link"), &facts) == 0)
  }

  @Test("The output can go to a device")
  func outputToDevice() throws {
    let scene = try LaunchScene()
    let options = ["--force", "--command-output", "/dev/null"]
    #expect(try record(scene, [LaunchScene.program, "exit", "0"], options) == .status(0))
    #expect(scene.contents("output") == "")
    try scene.expectBatch(in: "run.opq")
  }

  @Test(
    "If the file for the output cannot be created, the command is not started",
    arguments: ["none/log", "file/log", "closed"])
  func unwritableOutput(name: String) throws {
    let scene = try LaunchScene()
    try "kept".write(toFile: scene.file("file"), atomically: true, encoding: .utf8)
    #expect(mkdir(scene.file("closed"), 0o700) == 0)
    let options = ["--force", "--command-output", scene.file(name)]
    let words = ["touch", scene.file("started")]
    #expect(try record(scene, words, options) == .status(2))
    #expect(scene.contents("errors").hasPrefix("opq-top: cannot create \(scene.file(name)): "))
    #expect(access(scene.file("started"), F_OK) != 0)
  }

  @Test("The recording and the output of the command cannot be the same file")
  func sameFile() throws {
    let scene = try LaunchScene()
    #expect(symlink(scene.directory.path, scene.file("link")) == 0)
    let options = ["--force", "--command-output", scene.file("link/run.opq")]
    #expect(try record(scene, ["touch", scene.file("started")], options) == .status(2))
    #expect(
      scene.contents("errors")
        == "opq-top: the recording and the command's output cannot be the same file\n")
    #expect(access(scene.file("started"), F_OK) != 0)
  }

  @Test("A command that does not exist or cannot be executed is reported in one sentence")
  func unusableCommands() throws {
    let scene = try LaunchScene()
    #expect(try record(scene, ["nosuch-command"]) == .status(127))
    #expect(
      scene.contents("errors")
        == "opq-top: cannot run \"nosuch-command\": No such file or directory\n")
    #expect(try record(scene, ["/etc/passwd"]) == .status(126))
    #expect(scene.contents("errors").contains("cannot run \"/etc/passwd\": Permission denied\n"))
    #expect(access(scene.file("run.opq"), F_OK) != 0)
  }

  @Test("If the recording cannot be created, the command is not started")
  func unwritableRecording() throws {
    let scene = try LaunchScene()
    let words = [LaunchScene.program, "exit", "0"]
    #expect(try record(scene, words, into: "none/run.opq") == .status(2))
    #expect(scene.contents("errors").contains("No such file or directory"))
    #expect(scene.contents("output") == "")
    try "kept".write(toFile: scene.file("old"), atomically: true, encoding: .utf8)
    #expect(try record(scene, words, into: "old") == .status(2))
    #expect(scene.contents("old") == "kept" && scene.contents("output") == "")
  }

  @Test(
    "If no process of the command listens, the status is that of the command, or 1 in place of 0")
  func nothingListens() throws {
    let scene = try LaunchScene()
    #expect(try record(scene, ["true"]) == .status(1))
    #expect(
      scene.contents("errors")
        == "opq-top: no process of \"true\" listened; does it use OperationsMonitor?\n")
    #expect(try record(scene, ["sh", "-c", "exit 9"]) == .status(9))
    #expect(access(scene.file("run.opq"), F_OK) != 0)
  }

  @Test("If the recording reaches a size limit, the program keeps running")
  func sizeLimit() throws {
    let scene = try LaunchScene()
    let line =
      "ulimit -f 20; exec '\(BuiltProgram.path)' record -o '\(scene.file("run.opq"))'"
      + " -- '\(LaunchScene.program)' grow '\(scene.file("run.opq"))'"
    let window = try scene.start(["-c", line], of: "/bin/bash", input: "/dev/null")
    #expect(window.waitForEnd() == .status(1), "\(scene.contents("errors"))")
    #expect(scene.contents("output").hasSuffix("the program has finished\n"))
    let errors = scene.contents("errors")
    #expect(errors.contains("the recording stopped: cannot write "))
    #expect(errors.contains("File too large"))
    // The part before the limit can be replayed.
    let operations = try scene.recorded("run.opq").operations.all
    #expect(operations.contains { $0.name.hasPrefix("operation") })
  }

  @Test("Without a process, record takes the only one that listens")
  func onlyProcess() throws {
    let scene = try LaunchScene()
    #expect(try scene.run(["record", "-o", scene.file("none.opq")]) == .status(3))
    #expect(scene.contents("errors").contains("no monitored process found"))
    let process = try MonitoredProcess(
      BuiltFolder.path(of: "fixture-ending"), ["main"], in: scene.directory, until: "listening at")
    #expect(try scene.run(["record", "-o", scene.file("run.opq")]) == .status(0))
    #expect(process.waitForEnd() == .status(0))
    #expect(try scene.recorded("run.opq").operations.all.contains { $0.name == "last" })
  }

  @Test("Without a process, record names the processes if several listen")
  func severalListeners() throws {
    let scene = try LaunchScene()
    let first = try MonitoredProcess(in: scene.directory)
    let second = try MonitoredProcess(in: scene.directory)
    #expect(try scene.run(["record", "-o", scene.file("run.opq")]) == .status(2))
    let errors = scene.contents("errors")
    #expect(errors.contains("several processes are monitored; choose one with -p: "))
    #expect(errors.contains("\(first.id)") && errors.contains("\(second.id)"))
    #expect(access(scene.file("run.opq"), F_OK) != 0)
  }
}
