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

@Suite("Cancelling commands of a shim", .timeLimit(.minutes(5)), .onOwnThread)
struct ShimCancellationTests {
  private var scene: ShimScene

  init() throws { scene = try ShimScene() }

  /// Prints the ids of two processes that ignore SIGTERM.
  private static let stubborn = """
    trap '' TERM
    sh -c 'trap "" TERM; echo $$ >child; while :; do sleep 0.05; done' &
    echo $$ >leader
    while :; do sleep 0.05; done
    """

  private func process(_ name: String) throws -> Int {
    let path = scene.directory.file(name)
    _ = poll(for: .seconds(Patience.seconds), pausing: true) { contents(of: path).hasSuffix("\n") }
    return try #require(Int(contents(of: path).dropLast()))
  }

  /// Replaces `setsid` by a shell text that gets the arguments of `setsid`.
  private func replacingSetsid(by text: String) -> ShimScene {
    var scene = scene
    let path = scene.directory.file("setsid")
    TestProgram.write(text, to: path)
    scene.programs = ShimPrograms(setsid: path, env: scene.programs.env)
    return scene
  }

  @Test("RD-2: All processes of the group receive SIGTERM, and the last lines are in the log")
  func groupReceivesTermination() async throws {
    let operation = scene.start(
      """
      sh -c 'trap "echo child; exit" TERM; echo ready; while :; do sleep 0.01; done' 2>/dev/null &
      trap 'wait; echo leader; exit 0' TERM
      wait
      """)
    scene.waitForLine("ready")
    await scene.cancel(operation)
    #expect(scene.log == "ready\nchild\nleader\n")
  }

  @Test("RD-2: Processes that ignore SIGTERM are killed after the grace period")
  func stubbornGroupIsKilled() async throws {
    let operation = scene.start(Self.stubborn, scene.command(grace: .milliseconds(300)))
    let processes = [try process("child"), try process("leader")]
    let begin = ContinuousClock.now
    await scene.cancel(operation)
    #expect(begin.duration(to: .now) >= .milliseconds(300))
    for process in processes { #expect(!isAlive(process)) }
  }

  @Test("RD-2: When the first process has ended, a child that ignores SIGTERM is killed at once")
  func childIsKilledAfterLeader() async throws {
    let operation = scene.start("(trap '' TERM; sh -c 'echo $$ >child; exec sleep 1000') & wait")
    let child = try process("child")
    // The grace period is an hour.
    await scene.cancel(operation)
    #expect(!isAlive(child))
  }

  @Test("RD-2: The end of the grace periods kills a cancelled command")
  func gracePeriodsCanEnd() async throws {
    var command = scene.command()
    let gracePeriods = GracePeriods()
    command.gracePeriods = gracePeriods
    let operation = scene.start(Self.stubborn, command)
    let leader = try process("leader")
    operation.cancel()
    gracePeriods.end()
    await operation.waitUntilFinished()
    #expect(!isAlive(leader))
  }

  @Test("RD-2: A stopped command and a stopped shim continue when the command is cancelled")
  func stoppedProcessesContinue() async throws {
    let operation = scene.start(
      "trap 'echo asked; exit' TERM; echo ready; kill -STOP $$; sleep 1000")
    scene.waitForLine("ready")
    let (shim, command) = try scene.processes()
    kill(shim.id, SIGSTOP)
    for process in [shim, command] {
      #expect(poll(for: .seconds(60), pausing: true) { state(of: Int(process.id)) == "T" })
    }
    await scene.cancel(operation)
    #expect(scene.log == "ready\nasked\n")
  }

  @Test("RD-2: A command that is cancelled before its process group exists ends")
  func cancelledBeforeGroup() async throws {
    let scene = replacingSetsid(by: "touch waiting; exec sleep 1000")
    let operation = scene.start("echo started")
    scene.waitForFile("waiting")
    let (shim, command) = try scene.processes()
    await scene.cancel(operation)
    #expect(!isAlive(Int(command.id)) && !isAlive(Int(shim.id)))
    #expect(scene.log.isEmpty)
  }

  @Test("RD-2: A command that ignores SIGTERM before its process group exists is killed")
  func stubbornBeforeGroup() async throws {
    let scene = replacingSetsid(
      by: "trap '' TERM; touch waiting; while :; do sleep 0.05; done")
    let operation = scene.start("echo started", scene.command(grace: .zero))
    scene.waitForFile("waiting")
    let (_, command) = try scene.processes()
    await scene.cancel(operation)
    #expect(!isAlive(Int(command.id)))
  }

  @Test("RD-2: A command is cancelled although the locked file was deleted")
  func cancelledWithoutFile() async throws {
    let operation = scene.start("echo ready; sleep 1000")
    scene.waitForLine("ready")
    let (_, command) = try scene.processes()
    unlink(scene.files().shim)
    await scene.cancel(operation)
    #expect(!isAlive(Int(command.id)))
  }

  @Test("RD-2: Commands that are cancelled at any moment of their start leave no process")
  func cancelledWhileStarting() async throws {
    let mark = "\(UInt32.random(in: 1...UInt32.max))"
    let operations = (0..<60).map { number in
      ShimOperation(
        scene.command(grace: .zero), shell: "/bin/sh",
        text: "trap '' TERM; while :; do sleep 54321.\(mark); done",
        files: scene.files("\(number)"), programs: scene.programs
      ) {}
    }
    for (number, operation) in operations.enumerated() {
      scene.queue.addOperation(operation)
      #expect(poll(for: .seconds(Patience.seconds)) { operation.isExecuting })
      let moment = ContinuousClock.now + .microseconds(number * 80)
      while ContinuousClock.now < moment {}
      operation.cancel()
    }
    await scene.queue.waitUntilAllOperationsAreFinished()
    // The pattern does not match the command line that contains it.
    let processes = try await run(
      shell: "grep -l '54321[.]\(mark)' /proc/[0-9]*/cmdline 2>/dev/null | wc -l")
    #expect(processes.text == "0\n")
    for operation in operations {
      #expect(throws: CancellationError.self) { try operation.result?.get() }
    }
  }
}
