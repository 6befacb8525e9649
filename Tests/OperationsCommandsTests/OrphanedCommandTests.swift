// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

@Suite("Commands whose shims were killed", .timeLimit(.minutes(5)), .onOwnThread)
struct OrphanedCommandTests {
  private let scene: ShimScene

  init() throws { scene = try ShimScene() }

  /// Starts a command by a shim of another process, and kills this process and the shim.
  private func orphan(_ text: String, _ command: Command? = nil) async throws -> OrphanedCommand {
    let runner = CommandOperation(
      Command(BuiltFolder.path(of: "fixture-commands"), ["shim", scene.files().base, text]))
    scene.queue.addOperation(runner)
    let (shim, leader) = try scene.processes()
    scene.waitForLine("ready")
    // SIGTERM and SIGKILL for the process group of the runner.
    runner.cancel()
    await runner.waitUntilFinished()
    _ = try await run(shell: "kill -KILL \(shim.id)")
    #expect(poll(for: .seconds(60), pausing: true) { shim.presence != .alive })
    let finding = await scene.files().find(bootIDAgrees: true, patience: .seconds(60))
    #expect(finding == .orphaned(leader) && scene.files().mayBeAlive)
    return OrphanedCommand(command ?? scene.command(), leader: leader)
  }

  @Test("RD-4: A command without a shim ends within its grace period")
  func orphanEnds() async throws {
    let orphan = try await orphan(
      "exec 2>/dev/null; trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
    try await orphan.stop()
    #expect(scene.log == "ready\nasked\n")
    #expect(await scene.files().find(bootIDAgrees: true, patience: .zero) == .lost)
    #expect(!scene.files().mayBeAlive)
    // A second call has nothing to do.
    try await orphan.stop()
  }

  @Test("RD-4: A command without a shim that ignores SIGTERM is killed with its children")
  func stubbornOrphanIsKilled() async throws {
    let orphan = try await orphan(
      "trap '' TERM; sleep 1000 & echo $!; echo ready; while :; do sleep 0.01; done",
      scene.command(grace: .zero))
    let child = try #require(scene.log.split(separator: "\n").first.flatMap { Int($0) })
    let leader = try scene.processes().command
    try await orphan.stop()
    #expect(!isAlive(child) && !isAlive(Int(leader.id)))
  }

  @Test("RD-4: The end of the grace periods kills a command without a shim")
  func gracePeriodsCanEnd() async throws {
    var command = scene.command()
    let gracePeriods = GracePeriods()
    command.gracePeriods = gracePeriods
    let orphan = try await orphan(
      "trap '' TERM; echo ready; while :; do sleep 0.01; done", command)
    // The grace period is an hour.
    async let end: Void = orphan.stop()
    gracePeriods.end()
    try await end
    #expect(!isAlive(Int(try scene.processes().command.id)))
  }

  @Test("RD-4: A command without a shim receives SIGTERM once, although several callers end it")
  func severalCallers() async throws {
    let orphan = try await orphan(
      "trap 'echo asked; sleep 0.2; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
    async let first: Void = orphan.stop()
    async let second: Void = orphan.stop()
    _ = try await (first, second)
    try await orphan.stop()
    #expect(scene.log.split(separator: "\n").count { $0 == "asked" } == 1)
  }
}
