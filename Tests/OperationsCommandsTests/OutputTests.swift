// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands
import OperationsCore
import TestSupport
import Testing

@Suite("The output of commands", .timeLimit(.minutes(5)), .onOwnThread)
struct OutputTests {
  @Test(
    "CM-1: The result has the output of both streams, in the order of writing, and the duration")
  func resultHasOutput() async throws {
    let result = try await run(shell: "echo one; echo two >&2; printf three")
    #expect(result.text == "one\ntwo\nthree")
    #expect(result.errorOutput.isEmpty && result.isOutputComplete)
    #expect(result.duration > .zero && result.duration < .seconds(60))
  }

  @Test("CM-1: An error output with its own destination is not in the output")
  func errorOutputIsSeparate() async throws {
    var command = Command(shell: "echo one; echo two >&2")
    command.errorOutput = .collected(limit: 100)
    let result = try await run(command)
    #expect(result.text == "one\n")
    #expect(result.errorOutput == Array("two\n".utf8))
  }

  @Test(
    "CM-2: Output beyond the limit is dropped, and the command continues", arguments: [10, 0, -1])
  func limitCutsOutput(limit: Int) async throws {
    var command = Command(shell: "head -c 300000 /dev/zero; echo end >&2")
    command.output = .collected(limit: limit)
    command.errorOutput = .collected(limit: 100)
    let result = try await run(command)
    #expect(result.output.count == max(0, limit))
    #expect(result.errorOutput == Array("end\n".utf8))
    #expect(!result.isOutputComplete)
  }

  @Test("CM-2: Output of exactly the limit is complete")
  func limitMayBeReached() async throws {
    var command = Command(shell: "printf 1234")
    command.output = .collected(limit: 4)
    let result = try await run(command)
    #expect(result.text == "1234" && result.isOutputComplete)
  }

  @Test("CM-3: The closure receives each line in order, before the operation finishes")
  func closureReceivesLines() async throws {
    let log = EventLog<String>()
    var command = Command(shell: "printf 'a\\n\\nb\\r\\nc'; seq 1 2000")
    command.output = .lines { log.note($0) }
    let result = try await run(command)
    #expect(log.events == ["a", "", "b", "c1"] + (2...2_000).map(String.init))
    #expect(result.output.isEmpty)
  }

  @Test("CM-3: The closure's current operation is the operation of the command")
  func closureHasCurrentOperation() async throws {
    let names = EventLog<String?>()
    var command = Command(shell: "echo line")
    command.output = .lines { _ in names.note(Operation.current?.name) }
    let operation = CommandOperation(command, name: "named")
    OperationQueue(name: "commands").addOperation(operation)
    _ = try await operation.value
    #expect(names.events == ["named"])
  }

  @Test("CM-4: Bytes that are not UTF-8 are replaced, and a very long line is divided")
  func linesAreRepaired() async throws {
    let log = EventLog<String>()
    // The long line has 300,000 characters of two bytes after one character of one byte, so that a part of an even number
    // of bytes would end inside a character.
    var command = Command(
      shell: "printf 'a\\377b\\n'; printf x; yes é | head -n 150000 | tr -d '\\n'; echo")
    command.output = .lines { log.note($0) }
    _ = try await run(command)
    let lines = log.events
    #expect(lines.first == "a\u{FFFD}b")
    #expect(lines.count == 6 && lines.dropFirst().allSatisfy { $0.utf8.count <= 65_536 })
    #expect(
      lines.dropFirst().joined().utf8.elementsEqual(
        ("x" + String(repeating: "é", count: 150_000)).utf8))
  }

  @Test("CM-5: Output is written to a file, which is emptied or kept")
  func outputIsWrittenToFiles() async throws {
    let directory = try TemporaryDirectory()
    let (output, errors) = (directory.file("output"), directory.file("errors"))
    write("old\n", to: output)
    write("old\n", to: errors)
    var command = Command(shell: "echo one; echo two >&2")
    command.output = .file(output)
    command.errorOutput = .file(errors, appends: true)
    let result = try await run(command)
    #expect(contents(of: output) == "one\n" && contents(of: errors) == "old\ntwo\n")
    #expect(result.output.isEmpty && result.errorOutput.isEmpty && result.isOutputComplete)
  }

  @Test("CM-5: The last line of a file that the command has written is in the error and the status")
  func fileHasLastLine() async throws {
    let directory = try TemporaryDirectory()
    write("earlier\n", to: directory.file("output"))
    var command = Command(shell: "echo first; echo broken; exit 3")
    command.output = .file(directory.file("output"), appends: true)
    let operation = CommandOperation(command)
    OperationQueue(name: "commands").addOperation(operation)
    await operation.waitUntilFinished()
    #expect((operation.error as? CommandError)?.lastLine == "broken")
    #expect(operation.reportedStatus == "broken")
  }

  @Test("CM-17: The last line with a visible character is the status, cut to 200 characters")
  func lastLineIsStatus() async throws {
    let operation = CommandOperation(
      Command(shell: "echo first; echo '10%\r  50%'; echo; echo ' '"))
    let long = CommandOperation(Command(shell: "printf 'ä%.0s' $(seq 1 1000)"))
    OperationQueue(name: "commands").addOperations([operation, long])
    _ = try await (operation.value, long.value)
    #expect(operation.reportedStatus == "  50%")
    #expect(long.reportedStatus == String(repeating: "ä", count: 199) + "…")
  }

  @Test("CM-17: The log of the operation contains the lines of both streams")
  func linesAreLogged() async throws {
    var command = Command(shell: "echo one; echo two >&2")
    command.errorOutput = .lines { _ in }
    let operation = CommandOperation(command)
    OperationQueue(name: "commands").addOperation(operation)
    _ = try await operation.value
    let store = OperationLogStore.shared
    let lines = store.lines(of: .operations([operation.id]), in: 1...UInt64.max)
      .flatMap(\.lines).map(\.text)
    #expect(lines.sorted() == ["one", "two"])
  }

  @Test("CM-21: A process that the command leaves behind delays nothing, and continues")
  func operationLeavesProcessesAlone() async throws {
    let result = try await run(shell: "sleep 1000 & echo $!")
    let process = try #require(Int(result.text.dropLast()))
    #expect(isAlive(process))
    #expect(result.duration < .seconds(100))
    _ = try await run(shell: "kill \(process)")
  }

  @Test(
    "CM-21: A process that the command leaves behind and that writes without end delays nothing")
  func operationEndsDespiteOutput() async throws {
    var command = Command(shell: "yes & echo $! >&2")
    command.output = .collected(limit: 0)
    command.errorOutput = .collected(limit: 100)
    let result = try await run(command)
    #expect(result.duration < .seconds(100))
    #expect(!result.errorOutput.isEmpty)
  }
}
