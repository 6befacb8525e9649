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

@Suite("What has become of a shim", .timeLimit(.minutes(5)), .onOwnThread)
struct ShimFindingTests {
  private let scene: ShimScene

  init() throws { scene = try ShimScene() }

  private func find(
    bootIDAgrees: Bool = true, patience: Duration = .zero
  ) async -> ShimFinding {
    await scene.files().find(bootIDAgrees: bootIDAgrees, patience: patience)
  }

  private func expectUnknown(
    _ finding: ShimFinding, because reason: String, at location: SourceLocation = #_sourceLocation
  ) {
    let start = "it is not known if the command still runs: "
    #expect(finding == .unknown(start + reason), sourceLocation: location)
  }

  @Test("RD-4: A shim that has never started is lost")
  func missingFileIsLost() async {
    #expect(await find() == .lost)
    #expect(await find(bootIDAgrees: false) == .lost)
  }

  @Test("RD-4: The exit status of a shim that has ended is taken", arguments: [0, 7, 137, 255])
  func statusIsTaken(status: Int32) async {
    write(scene.line(), to: scene.files().shim)
    write("\(status)\n", to: scene.files().status)
    #expect(await find() == .ended(status: status))
    #expect(await find(bootIDAgrees: false) == .ended(status: status))
  }

  @Test(
    "RD-4: A status file without a complete number counts as missing",
    arguments: ["", "\n", "7", "12", "x\n", "256\n", "-1\n", "0007\n", "7\n7\n", "+7\n", " 7\n"])
  func damagedStatusIsLost(text: String) async {
    write(scene.line(), to: scene.files().shim)
    write(text, to: scene.files().status)
    #expect(await find() == .lost)
  }

  @Test("RD-4: A shim whose command runs is alive")
  func runningShimIsAlive() async throws {
    let operation = scene.start("\(ShimScene.gate); exit 7")
    let (shim, _) = try scene.processes()
    let adopted = AdoptedShim(processID: shim.id, startTime: shim.startTime)
    #expect(await find() == .alive(adopted))
    scene.open()
    await operation.waitUntilFinished()
    #expect(await find() == .ended(status: 7))
  }

  @Test("RD-4: A shim that was killed is lost, although its command has left a process")
  func killedShimIsLost() async throws {
    let operation = scene.start("setsid sleep 1000 & echo $! >child; \(ShimScene.gate)")
    let (shim, command) = try scene.processes()
    #expect(shim.presence == .alive && command.presence == .alive)
    _ = try await run(shell: "kill -KILL \(shim.id)")
    await operation.waitUntilFinished()
    #expect(await find() == .lost)
    _ = try await run(shell: "kill \(contents(of: scene.directory.file("child")))")
  }

  @Test("RD-4: A command that is alive although its shim was killed is orphaned")
  func orphanedCommandIsFound() async throws {
    let own = try scene.ownIdentity()
    let files = scene.files()
    write(scene.line() + scene.line(parent: own.id), to: files.shim)
    #expect(await find() == .orphaned(own))
    #expect(files.mayBeAlive)
    // After a restart of the machine, no process of the command can be alive.
    #expect(await find(bootIDAgrees: false) == .lost)
    write(scene.line() + scene.line(start: 1, parent: own.id), to: files.shim)
    #expect(await find() == .lost)
    #expect(!files.mayBeAlive)
    write(scene.line() + scene.line(parent: own.id), to: files.shim)
    write("7\n", to: files.status)
    #expect(await find() == .ended(status: 7))
  }

  @Test("RD-4: The file is locked, but its process has another start time or has ended")
  func otherProcessIsNotAdopted() async throws {
    let streams = try await CommandFiles(scene.files(), commandName: "job")
    defer { streams.closeOwn() }
    let reason = "“\(scene.files().shim)” is locked, but not by process "
    write(scene.line(start: 1), to: scene.files().shim)
    expectUnknown(await find(), because: "\(reason)\(try scene.ownIdentity().id)")
    // A process that was not reaped: `sleep` is no shell, and does not wait for its child.
    let parent = CommandOperation(
      Command(shell: "setsid sleep 0 & echo $! >\(scene.directory.file("child")); exec sleep 1000"))
    scene.queue.addOperation(parent)
    let path = scene.directory.file("child")
    _ = poll(for: .seconds(Patience.seconds), pausing: true) { contents(of: path).hasSuffix("\n") }
    let child = String(contents(of: path).dropLast())
    #expect(poll(for: .seconds(60), pausing: true) { state(of: Int(child) ?? 0) == "Z" })
    write(contents(of: "/proc/\(child)/stat"), to: scene.files().shim)
    expectUnknown(await find(), because: "\(reason)\(child)")
    parent.cancel()
    await parent.waitUntilFinished()
  }

  @Test("RD-4: A locked file without the line of a process is not taken for a lost shim")
  func missingIdentityIsUnknown() async throws {
    let streams = try await CommandFiles(scene.files(), commandName: "job")
    defer { streams.closeOwn() }
    let shim = scene.files().shim
    let reason = "the process that has locked “\(shim)” has not written its id"
    expectUnknown(await find(patience: .milliseconds(20)), because: reason)
    // A line that is not complete.
    write(String(scene.line().dropLast()), to: shim)
    expectUnknown(await find(), because: reason)
    let other = await find(bootIDAgrees: false, patience: .seconds(3600))
    expectUnknown(other, because: "another machine has locked “\(shim)”")
  }

  @Test("RD-4: A shim that has just started has time to say who it is")
  func identityIsAwaited() async throws {
    let streams = try await CommandFiles(scene.files(), commandName: "job")
    defer { streams.closeOwn() }
    let scene = scene
    async let finding = find(patience: .seconds(3600))
    write(scene.line(), to: scene.files().shim)
    let own = try scene.ownIdentity()
    #expect(
      await finding == .alive(AdoptedShim(processID: own.id, startTime: own.startTime)))
  }

  @Test("RD-4: A file that cannot be opened is not taken for a lost shim")
  func unreadableFileIsUnknown() async throws {
    // A name that is too long.
    let files = ShimFiles(base: scene.directory.file(String(repeating: "x", count: 300)))
    let finding = await files.find(bootIDAgrees: true, patience: .zero)
    expectUnknown(finding, because: "File name too long: “\(files.shim)”")
  }

  @Test("RD-8: A command may be alive if its shim is, if only its process is, or if it is unknown")
  func mayBeAlive() async throws {
    let files = scene.files()
    #expect(!files.mayBeAlive)
    let streams = try await CommandFiles(files, commandName: "job")
    #expect(files.mayBeAlive)
    streams.closeOwn()
    #expect(!files.mayBeAlive)
    // The shim was killed. The first process of the command is this one.
    write(scene.line() + scene.line(parent: try scene.ownIdentity().id), to: files.shim)
    #expect(files.mayBeAlive)
    write("0\n", to: files.status)
    #expect(!files.mayBeAlive)
    #expect(ShimFiles(base: scene.directory.file(String(repeating: "x", count: 300))).mayBeAlive)
    // A part of the path is a file.
    #expect(!ShimFiles(base: "\(files.shim)/x").mayBeAlive)
  }

  @Test("RD-4: If the exit status or the processes cannot be read, the command is not lost")
  func unreadableContentsAreUnknown() async throws {
    let files = scene.files()
    // A directory can be opened and locked, but not read.
    #expect(mkdir(files.shim, 0o700) == 0)
    expectUnknown(await find(), because: "Is a directory: “\(files.shim)”")
    #expect(files.mayBeAlive)
    #expect(throws: (any Error).self) { try files.processes }
    #expect(mkdir(files.status, 0o700) == 0)
    expectUnknown(await find(), because: "Is a directory: “\(files.status)”")
    #expect(throws: (any Error).self) { try files.exitStatus }
  }

  @Test("RD-4: The start time is found although the name of the process has spaces and parentheses")
  func hostileNameIsParsed() throws {
    func identity(_ line: String) throws -> ProcessIdentity? {
      write(line + "\n", to: scene.files().shim)
      return try scene.files().processes.shim
    }
    let line = "17 (a) 1 (b) R 2 17 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 4711 20"
    #expect(try identity(line) == ProcessIdentity(id: 17, startTime: 4_711))
    #expect(try identity("17 (a) R 2 17 4") == nil)
    #expect(try identity("") == nil)
  }

  @Test("RD-4: A line at the place of another process is not taken for its line")
  func misplacedLineIsIgnored() throws {
    let own = try scene.ownIdentity()
    let files = scene.files()
    // The line of the shim is missing, so the first line is that of the command, which is no leader yet.
    write(scene.line(parent: 17, group: 17), to: files.shim)
    #expect(try files.processes.shim == nil && files.processes.command == nil)
    // The second process is not a child of the first one.
    write(scene.line() + scene.line(parent: own.id + 1), to: files.shim)
    #expect(try files.processes.shim == own && files.processes.command == nil)
    write(scene.line() + scene.line(parent: own.id), to: files.shim)
    #expect(try files.processes.shim == own && files.processes.command == own)
  }
}
