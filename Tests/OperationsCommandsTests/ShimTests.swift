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

@Suite("Commands of a shim", .timeLimit(.minutes(5)), .onOwnThread)
struct ShimTests {
  private struct Reason: Error {}

  private let scene: ShimScene

  init() throws { scene = try ShimScene() }

  private func commandError(of text: String) async throws -> CommandError {
    try #require(await scene.failure(of: scene.operation(text)))
  }

  @Test("RD-2: The output of both streams is in the log, and the exit status in its file")
  func resultIsStored() async throws {
    _ = try await scene.start("echo one; echo two >&2").value
    #expect(scene.log == "one\ntwo\n")
    #expect(contents(of: scene.files().status) == "0\n")
  }

  @Test("RD-2: An exit status other than 0 is an error with the last line")
  func exitStatusIsError() async throws {
    let error = try await commandError(of: "echo 'no rule'; exit 7")
    #expect(error.description == "“job” ended with exit status 7: no rule")
    #expect(contents(of: scene.files().status) == "7\n")
  }

  @Test(
    "RD-2: A command that a signal ends is an error with the signal",
    arguments: [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("INT", 2), ("PIPE", 13)])
  func signalIsError(name: String, number: Int32) async throws {
    let error = try await commandError(of: "kill -\(name) $$; sleep 100")
    #expect(error.code == .signal && error.signal == number)
    #expect(contents(of: scene.files().status) == "\(128 + number)\n")
  }

  @Test("RD-2: An exit status above 128 without a signal of this number is an exit status")
  func highStatusIsNoSignal() async throws {
    #expect(try await commandError(of: "exit 255").exitStatus == 255)
    #expect(try await commandError(of: "exit 128").exitStatus == 128)
  }

  @Test(
    "RD-2: If the command kills its process group, the shim still writes the exit status",
    arguments: ["kill -KILL 0", "kill -KILL -$$"])
  func groupCanBeKilled(text: String) async throws {
    #expect(try await commandError(of: "\(text); sleep 100").signal == 9)
  }

  @Test("RD-2: The shim writes nothing into the log")
  func shimIsSilent() async throws {
    _ = try await commandError(of: "kill -KILL $$")
    #expect(scene.log.isEmpty)
  }

  @Test("RD-2: The command has a session and a process group of its own, the shim has others")
  func sessionIsOwn() async throws {
    _ = try await scene.start("cut -d ' ' -f 1,5,6 </proc/$$/stat").value
    let numbers = scene.log.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
    let (shim, command) = try scene.processes()
    #expect(numbers == [command.id, command.id, command.id])
    #expect(shim.id != command.id)
  }

  @Test("RD-2: The command has the file mode mask of this process, and the files the mode 0600")
  func modesAreRight() async throws {
    let mask = umask(0o077)
    umask(mask)
    _ = try await scene.start("umask").value
    #expect(Int(scene.log.dropLast(), radix: 8) == Int(mask))
    let files = scene.files()
    for path in [files.log, files.status, files.shim] {
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }

  @Test("RD-2: The command has no descriptor except the input, the output and the error output")
  func descriptorsAreNotInherited() async throws {
    _ = try await scene.start("exec ls -l /proc/self/fd").value
    let log = scene.files().log
    let descriptors = scene.log.split(separator: "\n").dropFirst().map { line in
      line.split(separator: " ").suffix(3).joined(separator: " ")
    }
    #expect(descriptors.prefix(3) == ["0 -> /dev/null", "1 -> \(log)", "2 -> \(log)"])
    // `ls` reads the directory.
    #expect(descriptors.count == 4 && descriptors.last?.hasSuffix("/fd") == true)
  }

  @Test("RD-2: The input of the command ends at once")
  func inputIsEmpty() async throws {
    _ = try await scene.start("cat; echo end").value
    #expect(scene.log == "end\n")
  }

  @Test("RD-2: Names and texts are not interpreted by the shim")
  func textsAreQuoted() async throws {
    let files = scene.files("a 'b\" $(c) \\ é")
    let operation = ShimOperation(
      scene.command(), shell: "/bin/sh", text: "echo '$x  `y`'; exit 3", files: files,
      programs: scene.programs
    ) {}
    _ = await scene.failure(of: operation)
    #expect(contents(of: files.log) == "$x  `y`\n" && contents(of: files.status) == "3\n")
  }

  @Test("RD-2: A relative path of the files begins in the directory of this process")
  func relativePathWorks() async throws {
    // The parent of the root directory is the root directory.
    let base = String(repeating: "../", count: 64) + scene.directory.file("job").dropFirst()
    var command = scene.command()
    command.workingDirectory = "/"
    let operation = ShimOperation(
      command, shell: "/bin/sh", text: "exit 4", files: ShimFiles(base: base),
      programs: scene.programs
    ) {}
    _ = await scene.failure(of: operation)
    #expect(contents(of: scene.files().status) == "4\n")
  }

  @Test("RD-2: The command starts after the closure has returned")
  func closurePrecedesStart() async throws {
    let scene = scene
    let operation = scene.operation("cat before; touch started") {
      #expect(!scene.exists("started") && !scene.exists("job.shim"))
      write("written\n", to: scene.directory.file("before"))
    }
    scene.queue.addOperation(operation)
    _ = try await operation.value
    #expect(scene.log == "written\n")
  }

  @Test("RD-2: The command does not start if the closure throws")
  func closurePreventsStart() async throws {
    let operation = scene.operation("true") { throw Reason() }
    _ = await scene.failure(of: operation)
    #expect(operation.error is Reason)
    #expect(!scene.exists("job.shim") && !scene.exists("job.log"))
  }

  @Test("RD-2: A command that is cancelled during the closure does not start")
  func cancelledDuringClosure() async throws {
    let (entered, gate) = (Gate(), Gate())
    let operation = scene.operation("true") {
      entered.open()
      _ = gate.waitUntilOpen()
    }
    scene.queue.addOperation(operation)
    _ = entered.waitUntilOpen()
    operation.cancel()
    gate.open()
    await operation.waitUntilFinished()
    #expect(throws: CancellationError.self) { try operation.result?.get() }
    #expect(!scene.exists("job.shim"))
  }

  @Test("RD-2: A process that the command leaves behind delays nothing, and continues")
  func backgroundProcessContinues() async throws {
    _ = try await scene.start("sleep 1000 & echo $!").value
    let process = try #require(Int(scene.log.dropLast()))
    #expect(isAlive(process))
    #expect(await scene.files().find(bootIDAgrees: true, patience: .zero) == .ended(status: 0))
    kill(Int32(process), SIGKILL)
  }

  @Test("RD-2: A working directory and a file that cannot be used are errors")
  func missingPathsAreErrors() async throws {
    var command = scene.command()
    command.workingDirectory = "/opq/no/directory"
    let error = await scene.failure(of: scene.operation("true", command))
    #expect(error?.code == .workingDirectory && error?.path == "/opq/no/directory")
    let operation = ShimOperation(
      scene.command(), shell: "/bin/sh", text: "true", files: ShimFiles(base: "/opq/no/job"),
      programs: scene.programs
    ) {}
    let other = await scene.failure(of: operation)
    #expect(other?.code == .file && other?.path == "/opq/no/job.shim")
  }

  @Test("RD-2: A second shim with the same files does not start while the first one is alive")
  func lockedFileIsError() async throws {
    let first = try await CommandFiles(scene.files(), commandName: "job")
    let error = await scene.failure(of: scene.operation("echo started"))
    #expect(error?.code == .file && error?.path == scene.files().shim)
    #expect(scene.log.isEmpty)
    first.closeOwn()
    _ = try await scene.start("echo started").value
    #expect(scene.log == "started\n")
  }

  @Test("RD-2: A shell that does not exist is the exit status 127, with a line that names it")
  func missingShellIsStatus() async throws {
    let operation = scene.operation("true", shell: "/opq/no/shell")
    let error = try #require(await scene.failure(of: operation))
    #expect(error.exitStatus == 127)
    #expect(error.lastLine?.contains("/opq/no/shell") == true)
  }

  @Test("RD-2: A program of the shim that is not found is one sentence")
  func missingProgramIsSentence() throws {
    #expect(try ShimPrograms.find(in: "relative:/opq/no").setsid.hasPrefix("/"))
    #expect(
      ShimPrograms.Failure(program: "setsid").description
        == "jobs need the program setsid, which was not found")
  }

  @Test("RD-2: An exit status that the shim cannot write is known if this process has waited")
  func unwrittenStatusIsKnown() async throws {
    // The shim cannot write a file with the name of a directory.
    #expect(mkdir(scene.files().status, 0o700) == 0)
    #expect(try await commandError(of: "exit 7").exitStatus == 7)
    let finding = await scene.files().find(bootIDAgrees: true, patience: .zero)
    #expect(
      finding
        == .unknown(
          "it is not known if the command still runs: Is a directory: “\(scene.files().status)”"))
  }

  @Test("RD-2: The exit status of an earlier shim does not count")
  func earlierStatusIsDeleted() async throws {
    write("0\n", to: scene.files().status)
    let operation = scene.start("sleep 1000")
    let (shim, _) = try scene.processes()
    kill(shim.id, SIGKILL)
    let error = await scene.end(of: operation)
    #expect(error?.code == .statusUnknown)
  }

  @Test("RD-2: If the shim is killed, its command is ended, and its exit status is not known")
  func killedShimIsError() async throws {
    let operation = scene.start("echo ready; sleep 1000")
    scene.waitForLine("ready")
    let (shim, command) = try scene.processes()
    kill(shim.id, SIGKILL)
    let error = try #require(await scene.end(of: operation))
    #expect(
      error.description == "“job” has ended, but its exit status is not known: ready")
    #expect(!isAlive(Int(command.id)))
  }
}
