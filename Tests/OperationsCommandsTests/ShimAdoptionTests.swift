// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import OperationsCore
import TestSupport
import Testing

@Suite("Commands that another process has started", .timeLimit(.minutes(5)), .onOwnThread)
struct ShimAdoptionTests {
  private let scene: ShimScene

  init() throws { scene = try ShimScene() }

  /// Starts a command from another process, kills this process, and adopts the command.
  private func adoptFromKilledProcess(
    _ text: String, _ command: Command? = nil
  ) async throws -> AdoptedOperation {
    let runner = CommandOperation(
      Command(BuiltFolder.path(of: "fixture-commands"), ["shim", scene.files().base, text]))
    scene.queue.addOperation(runner)
    let shim = try scene.processes().shim
    scene.waitForLine("ready")
    // SIGTERM and SIGKILL for the process group of the runner.
    runner.cancel()
    await runner.waitUntilFinished()
    #expect(throws: CancellationError.self) { try runner.result?.get() }
    let adopted = AdoptedShim(processID: shim.id, startTime: shim.startTime)
    #expect(await scene.files().find(bootIDAgrees: true, patience: .zero) == .alive(adopted))
    return AdoptedOperation(
      command ?? scene.command(), shim: adopted, files: scene.files())
  }

  /// Starts a command in this process, and creates a second operation for it.
  private func adopt(_ text: String) throws -> (ShimOperation, AdoptedOperation) {
    let operation = scene.start(text)
    let shim = try scene.processes().shim
    let adopted = AdoptedShim(processID: shim.id, startTime: shim.startTime)
    return (operation, AdoptedOperation(scene.command(), shim: adopted, files: scene.files()))
  }

  private var gate: String { "until [ -e '\(scene.directory.file("open"))' ]; do sleep 0.01; done" }

  @Test("RD-2, RD-4: A command whose starter was killed is adopted, and its failure is known")
  func failureIsKnown() async throws {
    let operation = try await adoptFromKilledProcess("echo ready; \(gate); echo broken; exit 7")
    scene.open()
    let error = try #require(await scene.failure(of: operation))
    #expect(error.description == "“job” ended with exit status 7: broken")
    #expect(scene.log == "ready\nbroken\n")
  }

  @Test("RD-4: The duration of an adopted command begins with the start of its shim")
  func durationIsWhole() async throws {
    let (first, operation) = try adopt(ShimScene.gate)
    let begin = ContinuousClock.now
    #expect(poll(for: .seconds(60), pausing: true) { begin.duration(to: .now) > .milliseconds(50) })
    scene.queue.addOperation(operation)
    scene.open()
    // The start time of a process is known to a hundredth of a second.
    #expect(try await operation.value.duration >= .milliseconds(40))
    _ = try await first.value
  }

  @Test("RD-4: A command that ends before the adopting operation starts is taken")
  func endedCommandIsTaken() async throws {
    let (first, operation) = try adopt("\(ShimScene.gate); exit 7")
    scene.open()
    await first.waitUntilFinished()
    let error = await scene.failure(of: operation)
    #expect(error?.exitStatus == 7)
  }

  @Test("RD-4: The last line of an adopted command is the status of the operation")
  func linesAreReported() async throws {
    let (first, operation) = try adopt("echo early; \(ShimScene.gate); echo late")
    scene.queue.addOperation(operation)
    #expect(
      poll(for: .seconds(Patience.seconds), pausing: true) { operation.reportedStatus == "early" })
    scene.open()
    _ = try await operation.value
    #expect(operation.reportedStatus == "late")
    _ = try await first.value
  }

  @Test("RD-4: Cancelling ends an adopted command within its grace period")
  func adoptedCommandIsCancelled() async throws {
    let operation = try await adoptFromKilledProcess(
      "exec 2>/dev/null; trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
    scene.queue.addOperation(operation)
    #expect(poll(for: .seconds(Patience.seconds)) { operation.hasBegun })
    await scene.cancel(operation)
    #expect(scene.log == "ready\nasked\n")
    #expect(
      await scene.files().find(bootIDAgrees: true, patience: .zero) == .ended(status: 0))
  }

  @Test("RD-4: An adopted command that ignores SIGTERM is killed with its children")
  func stubbornAdoptedCommandIsKilled() async throws {
    let operation = try await adoptFromKilledProcess(
      "trap '' TERM; sleep 1000 & echo $!; echo ready; while :; do sleep 0.01; done",
      scene.command(grace: .zero))
    let child = try #require(scene.log.split(separator: "\n").first.flatMap { Int($0) })
    scene.queue.addOperation(operation)
    #expect(poll(for: .seconds(Patience.seconds)) { operation.hasBegun })
    await scene.cancel(operation)
    let leader = try scene.processes().command
    #expect(!isAlive(child) && !isAlive(Int(leader.id)))
  }

  @Test("RD-4: An adopted command is ended if it has exceeded its time limit before the operation")
  func timeLimitHasPassed() async throws {
    let shim = try await adoptFromKilledProcess(
      "exec 2>/dev/null; trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done"
    ).shim
    #expect(poll(for: .seconds(60), pausing: true) { shim.age > .milliseconds(50) })
    let operation = AdoptedOperation(
      scene.command(), shim: shim, files: scene.files(), timeout: .milliseconds(20))
    scene.queue.addOperation(operation)
    await operation.waitUntilFinished()
    let error = operation.error as? OperationTimeoutError
    #expect(error?.limit == .milliseconds(20) && !operation.isCancelled)
    #expect(scene.log == "ready\nasked\n")
  }

  @Test("RD-4: A command that ends within its time limit has no other result because of it")
  func timeLimitIsKept() async throws {
    let shim = try await adoptFromKilledProcess("echo ready; \(gate); exit 7").shim
    let operation = AdoptedOperation(
      scene.command(), shim: shim, files: scene.files(), timeout: .seconds(3600))
    scene.queue.addOperation(operation)
    scene.open()
    #expect(await scene.end(of: operation)?.exitStatus == 7)
  }

  @Test("RD-4: A process with the id of an ended shim is not awaited")
  func reusedIDIsNotAwaited() async throws {
    write("7\n", to: scene.files().status)
    let own = try scene.ownIdentity()
    let shim = AdoptedShim(processID: own.id, startTime: own.startTime + 1)
    let operation = AdoptedOperation(scene.command(), shim: shim, files: scene.files())
    let error = await scene.failure(of: operation)
    #expect(error?.exitStatus == 7)
  }

  @Test("RD-4: The end of a shim is noticed without a descriptor of its process")
  func endIsNoticedWithoutDescriptor() async throws {
    let operation = scene.start(ShimScene.gate)
    let shim = try scene.processes().shim
    async let end: Void = AdoptedShim(processID: shim.id, startTime: shim.startTime).awaitEnd(-1)
    scene.open()
    await end
    #expect(shim.presence == .gone)
    _ = try await operation.value
  }

  @Test("RD-4: The end of an adopted command whose shim leaves no exit status is an error")
  func lostAdoptedCommandIsError() async throws {
    let (first, operation) = try adopt("sleep 1000")
    scene.queue.addOperation(operation)
    #expect(poll(for: .seconds(Patience.seconds)) { operation.hasBegun })
    _ = try await run(shell: "kill -KILL \(try scene.processes().shim.id)")
    let error = await scene.end(of: operation)
    #expect(error?.code == .statusUnknown)
    await first.waitUntilFinished()
  }

  @Test("RD-4: An adopting operation that is cancelled before it starts does not end the command")
  func cancelledBeforeStart() async throws {
    let (first, operation) = try adopt(ShimScene.gate)
    operation.cancel()
    scene.queue.addOperation(operation)
    await operation.waitUntilFinished()
    #expect(!operation.hasBegun)
    scene.open()
    _ = try await first.value
  }

  @Test("RD-4: The error and the last line of a command that has ended are known from its files")
  func endIsRead() async throws {
    write("first\nlast\n", to: scene.files().log)
    let failed = scene.files().end(ofCommand: "job", status: 137)
    #expect(failed.error?.description == "“job” was ended by signal 9 (SIGKILL): last")
    #expect(failed.lastLine == "last")
    let succeeded = scene.files().end(ofCommand: "job", status: 0)
    #expect(succeeded.error == nil && succeeded.lastLine == "last")
  }
}
