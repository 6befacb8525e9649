// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands
import OperationsTesting
import TestSupport
import Testing

@Suite("Cancelling commands", .timeLimit(.minutes(5)), .onOwnThread)
struct CancellationTests {
  private struct Reason: Error {}

  private let queue = OperationQueue(name: "commands")
  private let log = EventLog<String>()

  /// Prints the ids of two processes that ignore SIGTERM, and then a line.
  private static let stubborn = """
    trap '' TERM
    sh -c 'trap "" TERM; echo child $$; while :; do sleep 0.05; done' &
    echo leader $$
    while :; do sleep 0.05; done
    """

  private func waitForStubborn() {
    log.wait(for: "both processes") { lines in
      lines.contains { $0.hasPrefix("child ") } && lines.contains { $0.hasPrefix("leader ") }
    }
  }

  private func expectNobodyIsAlive() {
    let processes = numbers(after: "child", in: log) + numbers(after: "leader", in: log)
    #expect(processes.count == 2)
    for process in processes { #expect(!isAlive(process)) }
  }

  @Test("CM-12: A command that is cancelled in the queue does not start")
  func cancelledInQueue() async throws {
    queue.isSuspended = true
    let operation = CommandOperation(logged("echo started", in: log))
    queue.addOperation(operation)
    operation.cancel(with: Reason())
    queue.isSuspended = false
    await operation.waitUntilFinished()
    #expect(throws: Reason.self) { try operation.result?.get() }
    #expect(log.events.isEmpty)
  }

  @Test("CM-13: All processes of the group receive SIGTERM")
  func groupReceivesTermination() async throws {
    // The command ends only after its child has handled the signal.
    var command = logged(
      """
      sh -c 'trap "echo asked; exit" TERM; echo child $$; while :; do sleep 0.05; done' &
      trap '' TERM
      echo leader $$
      wait
      """, in: log)
    command.gracePeriod = .seconds(3600)
    let operation = CommandOperation(command)
    queue.addOperation(operation)
    waitForStubborn()
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(log.events.last == "asked")
    expectNobodyIsAlive()
  }

  @Test("CM-13: A stopped process continues when it receives SIGTERM")
  func stoppedProcessContinues() async throws {
    var command = logged(
      "trap 'echo asked; exit' TERM; echo leader $$; kill -STOP $$; sleep 600", in: log)
    command.gracePeriod = .seconds(3600)
    let operation = CommandOperation(command)
    queue.addOperation(operation)
    log.wait(for: "the process") { !$0.isEmpty }
    let process = try #require(numbers(after: "leader", in: log).first)
    #expect(poll(for: .seconds(60), pausing: true) { state(of: process) == "T" })
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(log.events.last == "asked")
  }

  @Test("CM-13: Cancelling ends processes that ignore SIGTERM before a dependent starts")
  func cancelEndsStubbornGroup() async throws {
    var command = logged(Self.stubborn, in: log)
    command.gracePeriod = .milliseconds(100)
    let operation = CommandOperation(command)
    let isNobodyAlive = Monitored<Bool?>(nil)
    let dependent = BlockOperation { [log] in
      let processes = numbers(after: "child", in: log) + numbers(after: "leader", in: log)
      isNobodyAlive.change { $0 = !processes.contains(where: isAlive) }
    }
    dependent.addDependency(operation)
    queue.addOperations([operation, dependent])
    waitForStubborn()
    operation.cancel(with: Reason())
    await dependent.waitUntilFinished()
    #expect(isNobodyAlive.value == true)
    expectNobodyIsAlive()
    #expect(throws: Reason.self) { try operation.result?.get() }
  }

  @Test("CM-13: A command that reacts to SIGTERM ends by itself, and its last lines are delivered")
  func commandUsesGracePeriod() async throws {
    var command = logged(
      "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done", in: log)
    // The shell reports there that its `sleep` has ended too.
    command.errorOutput = .discarded
    command.gracePeriod = .seconds(100)
    let operation = CommandOperation(command)
    queue.addOperation(operation)
    log.wait(for: "ready")
    let begin = ContinuousClock.now
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(log.events == ["ready", "bye"])
    #expect(begin.duration(to: .now) < .seconds(50))
    #expect(throws: CancellationError.self) { try operation.result?.get() }
  }

  @Test("CM-13: SIGKILL is not sent before the end of the grace period")
  func killWaitsForGracePeriod() async throws {
    var command = logged("trap '' TERM; echo ready; while :; do sleep 0.01; done", in: log)
    command.gracePeriod = .milliseconds(400)
    let operation = CommandOperation(command)
    queue.addOperation(operation)
    log.wait(for: "ready")
    let begin = ContinuousClock.now
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(begin.duration(to: .now) >= .milliseconds(400))
  }

  @Test("CM-14: When the first process has ended, a child that ignores SIGTERM is killed at once")
  func childIsKilledAfterLeader() async throws {
    var command = logged(
      """
      (trap '' TERM; sh -c 'echo child $$; exec sleep 1000') &
      echo leader $$
      wait
      """, in: log)
    command.gracePeriod = .seconds(100)
    let operation = CommandOperation(command)
    queue.addOperation(operation)
    waitForStubborn()
    let begin = ContinuousClock.now
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(begin.duration(to: .now) < .seconds(50))
    expectNobodyIsAlive()
  }

  @Test("CM-16: A timeout ends the group, and is the error")
  func timeoutEndsGroup() async throws {
    let clock = TestClock()
    var command = logged(Self.stubborn, in: log)
    command.gracePeriod = .zero
    let timeout = TimeoutOperation(after: .seconds(10), clock: clock) { [command] in
      CommandOperation(command)
    }
    queue.addOperation(timeout)
    waitForStubborn()
    await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    await timeout.waitUntilFinished()
    #expect(throws: OperationTimeoutError.self) { try timeout.result?.get() }
    expectNobodyIsAlive()
  }

  @Test("CM-22: Commands that are cancelled at any moment of their start leave no process")
  func cancelledWhileStarting() async throws {
    let mark = "\(UInt32.random(in: 1...UInt32.max))"
    let operations = (0..<60).map { _ in
      var command = Command(shell: "trap '' TERM; while :; do sleep 54321.\(mark); done")
      command.gracePeriod = .zero
      return CommandOperation(command)
    }
    for (number, operation) in operations.enumerated() {
      queue.addOperation(operation)
      // Each operation is cancelled a little later after its beginning than the one before.
      #expect(poll(for: .seconds(Patience.seconds)) { operation.isExecuting })
      let moment = ContinuousClock.now + .microseconds(number * 40)
      while ContinuousClock.now < moment {}
      operation.cancel()
    }
    await queue.waitUntilAllOperationsAreFinished()
    // The pattern does not match the command line that contains it.
    let processes = try await run(
      shell: "grep -l '54321[.]\(mark)' /proc/[0-9]*/cmdline 2>/dev/null | wc -l")
    #expect(processes.text == "0\n")
    for operation in operations {
      #expect(throws: CancellationError.self) { try operation.result?.get() }
    }
  }
}
