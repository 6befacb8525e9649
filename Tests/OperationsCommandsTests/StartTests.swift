// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands
import TestSupport
import Testing

@Suite("The start of commands", .timeLimit(.minutes(5)), .onOwnThread)
struct StartTests {
  @Test("CM-6: Variables are inherited, set and removed")
  func environmentChanges() async throws {
    var command = Command(shell: "echo \"$OPQ_TEST_SET\"; test -n \"$PATH\"; echo ${HOME-none}")
    command.environment = ["OPQ_TEST_SET": "a b=c", "HOME": nil]
    #expect(try await run(command).text == "a b=c\nnone\n")
  }

  @Test("CM-6: Without inheritance the command has only the variables that are set")
  func environmentCanBeEmpty() async throws {
    var command = Command("/usr/bin/env")
    command.inheritsEnvironment = false
    command.environment = ["ONLY": "this"]
    #expect(try await run(command).text == "ONLY=this\n")
  }

  @Test("CM-7: The command runs in its directory")
  func workingDirectoryApplies() async throws {
    let directory = try TemporaryDirectory()
    var command = Command("pwd", ["-P"])
    command.workingDirectory = directory.path
    #expect(try await run(command).text == "\(directory.path)\n")
  }

  @Test("CM-8: By default the input ends at once")
  func inputIsEmpty() async throws {
    #expect(try await run(Command("cat")).text.isEmpty)
  }

  @Test("CM-8: The input comes from a file")
  func inputComesFromFile() async throws {
    let directory = try TemporaryDirectory()
    write("from a file\n", to: directory.file("input"))
    var command = Command("cat")
    command.input = .file(directory.file("input"))
    #expect(try await run(command).text == "from a file\n")
  }

  @Test("CM-9: An exit status other than 0 is an error with the last line")
  func exitStatusIsError() async throws {
    var command = Command(shell: "echo working; echo 'no rule' >&2; exit 2")
    command.name = "make"
    let error = try #require(await failure(of: command))
    #expect(error.code == .exitStatus && error.exitStatus == 2 && error.signal == nil)
    #expect(error.description == "“make” ended with exit status 2: no rule")
  }

  @Test("CM-10: The end by a signal is an error with the signal's name")
  func signalIsError() async throws {
    let error = try #require(await failure(of: Command(shell: "kill -SEGV $$")))
    #expect(error.code == .signal && error.signal == 11 && error.exitStatus == nil)
    #expect(error.description == "“kill -SEGV $$” was ended by signal 11 (SIGSEGV)")
  }

  @Test(
    "CM-11: A program that does not exist is an error",
    arguments: ["opq-no-such-program", "/opq/no/program", "/etc/passwd", "/etc"])
  func missingProgramIsError(program: String) async throws {
    let error = try #require(await failure(of: Command(program)))
    #expect(error.code == .programNotFound && error.path == program)
    let name = program.split(separator: "/").last ?? ""
    let reason = "the program was not found or cannot be executed"
    #expect(error.description == "“\(name)” cannot be started: \(reason)")
  }

  @Test("CM-11: A directory that does not exist is an error")
  func missingDirectoryIsError() async throws {
    var command = Command("true")
    command.workingDirectory = "/opq/no/directory"
    let error = try #require(await failure(of: command))
    #expect(error.code == .workingDirectory)
    #expect(
      error.description
        == "“true” cannot be started: the directory “/opq/no/directory” cannot be used: No such file or directory"
    )
  }

  @Test("CM-11: A file that cannot be opened is an error")
  func missingFileIsError() async throws {
    var command = Command("true")
    command.input = .file("/opq/no/input")
    let error = try #require(await failure(of: command))
    #expect(error.code == .file && error.path == "/opq/no/input")
    #expect(
      error.description
        == "“true” cannot be started: the file “/opq/no/input” cannot be opened: No such file or directory"
    )
    command.input = .none
    command.output = .file("/opq/no/output")
    #expect(await failure(of: command)?.path == "/opq/no/output")
  }

  @Test("CM-11: A NUL character in a text is an error")
  func nulIsError() async throws {
    #expect(await failure(of: Command("echo", ["a\0b"]))?.code == .start)
  }

  @Test("CM-11: Arguments that are too long are an error")
  func longArgumentsAreError() async throws {
    let error = await failure(of: Command("true", [String(repeating: "x", count: 1 << 22)]))
    #expect(error?.code == .start)
    #expect(error?.reason == "Argument list too long")
  }

  @Test("CM-15: The command has a session and a process group of its own")
  func sessionIsOwn() async throws {
    let words = try await run(shell: "cat /proc/$$/stat | cut -d ' ' -f 1,5,6").text
      .split(whereSeparator: \.isWhitespace)
    #expect(words.count == 3 && Set(words).count == 1)
  }

  @Test("CM-15: The command has no terminal")
  func terminalIsMissing() async throws {
    let error = try #require(await failure(of: Command(shell: "exec </dev/tty")))
    #expect(error.exitStatus == 2)
  }

  @Test("CM-16: A retry runs a new operation until the command succeeds")
  func retryRepeats() async throws {
    let directory = try TemporaryDirectory()
    var command = Command(shell: "echo x >> tries; test $(wc -l < tries) -ge 3")
    command.workingDirectory = directory.path
    let retry = RetryOperation(maximumAttempts: 5) { [command] _ in CommandOperation(command) }
    OperationQueue(name: "commands").addOperation(retry)
    _ = try await retry.value
    #expect(contents(of: directory.file("tries")) == "x\nx\nx\n")
  }

  @Test("CM-16: A dependent that requires success is cancelled if the command fails")
  func failureCancelsDependent() async throws {
    let command = CommandOperation(Command("false"))
    let dependent = BlockOperation { Issue.record("The dependent runs.") }
    dependent.addDependency(command, requires: .success)
    let queue = OperationQueue(name: "commands")
    queue.addOperations([command, dependent])
    await queue.waitUntilAllOperationsAreFinished()
    #expect(dependent.isCancelled)
    #expect("\(try #require(dependent.error))".contains("“false” ended with exit status 1"))
  }

  @Test("The name and the kind of the operation are those of the command")
  func operationHasName() {
    let make = CommandOperation(Command("/usr/bin/make", ["all"]))
    #expect(make.name == "make" && make.kind == "make")
    let shell = CommandOperation(Command(shell: "cd /tmp\nls"))
    #expect(shell.name == "cd /tmp" && shell.kind == "sh")
    #expect(CommandOperation(Command("ls"), name: "list").name == "list")
  }
}
