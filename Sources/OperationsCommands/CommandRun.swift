// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import Subprocess

/// One run of a command, from its wait for file descriptors until its result.
///
/// A run does not know how its command is started: ``DirectRun``, `ShimRun` and `AdoptedRun` do.
final class CommandRun: Sendable {
  /// The time between two looks at the files that the command writes.
  private static let lookInterval = Duration.milliseconds(200)

  let command: Command
  let report: CommandReport
  let events = CommandEvents()
  private let outcome = CommandOutcome()
  private let place = Locked(PlaceState.left)

  /// Whether the run counts as one that starts or runs.
  private enum PlaceState {
    case starting
    case running
    case left
  }

  init(_ command: Command, _ report: CommandReport) {
    self.command = command
    self.report = report
  }

  /// Runs the command. If the task is cancelled, notes ``CommandEvents/Event/stop``, and the work ends the command.
  ///
  /// - Parameters:
  ///   - waitsForPlace: Whether the run waits for file descriptors before the work.
  ///   - work: Starts the command, calls one of the methods `supervise`, and returns the result.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work; `CommandError` if too few descriptors are free; `CancellationError` if the task
  ///   is cancelled during the wait for a place.
  func result(
    waitingForPlace waitsForPlace: Bool = true,
    of work: @escaping @Sendable () async -> CommandOutcome.Value
  ) async throws -> CommandResult {
    if waitsForPlace { try await enterPlace() }
    // The cancellation of the operation's task does not cancel this task, because swift-subprocess would then kill the
    // first process of the command at once. The task uses the threads of the queue, as the operation's task does.
    Task(executorPreference: OperationQueue.current?.taskExecutor) {
      let result = await work()
      await self.leavePlace()
      self.outcome.settle(result)
    }
    return try await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      events.note(.stop)
    }.get()
  }

  /// What is known when the command has ended.
  struct End {
    let duration: Duration
    /// Whether the operation was cancelled, and whether a process of the command is alive nevertheless.
    let wasStopped: Bool
    let isAlive: Bool
  }

  /// Supervises a command whose first process is a child of this process and has just started.
  func supervise(
    _ process: ProcessIdentifier, _ group: some CommandGroup, readers: [OutputReader] = [],
    files: [CommandFiles.WrittenFile]
  ) async -> End {
    await notePlaceStarted()
    let descriptor = process.processDescriptor
    if descriptor < 0 { await abandonUnwatched(process.value, group) }
    return await supervise(group, readers: readers, files: files) {
      if descriptor >= 0 { await DescriptorWatch(descriptor).wait() }
    }
  }

  /// Reads the output until a command has ended, and ends the group if the operation is cancelled.
  ///
  /// - Parameters:
  ///   - group: The processes of the command.
  ///   - age: The time since the start of the command.
  ///   - readers: The readers of the command's pipes.
  ///   - files: The files that the command writes.
  ///   - awaitEnd: Returns when the process has ended whose end is the end of the command.
  /// - Returns: What is known at the end.
  func supervise(
    _ group: some CommandGroup, age: Duration = .zero, readers: [OutputReader] = [],
    files: [CommandFiles.WrittenFile], awaitEnd: @escaping @Sendable () async -> Void
  ) async -> End {
    let begin = ContinuousClock.now - age
    command.gracePeriods?.add(events)
    defer { command.gracePeriods?.remove(events) }
    return await withTaskGroup(of: Void.self) { tasks in
      for reader in readers { tasks.addTask { await reader.read() } }
      for file in files { tasks.addTask { await self.reportLines(of: file, group) } }
      tasks.addTask {
        await awaitEnd()
        self.events.note(.end)
      }
      await events.wait(for: [.stop, .end])
      var wasStopped = events.has(.stop)
      var isAlive = false
      if wasStopped { isAlive = await !group.stop(gracePeriod: command.gracePeriod) }
      if !events.has(.end) {
        // The process cannot be ended, so its end may never come. The operation finishes without it.
        await abandon(.stillAlive)
        await events.wait(for: [.end])
      }
      let duration = begin.duration(to: .now)
      for reader in readers { reader.noteEnd() }
      await tasks.waitForAll()
      // The operation may have been cancelled while the last lines were delivered.
      if !wasStopped, events.has(.stop) {
        wasStopped = true
        isAlive = await !group.stop(gracePeriod: .zero)
      }
      return End(duration: duration, wasStopped: wasStopped, isAlive: isAlive)
    }
  }

  /// Returns the error of a command that was cancelled; `nil` if it has ended by itself.
  func cancellationError(for end: End) -> (any Error)? {
    if end.isAlive { return CommandError(.stillAlive, command.name) }
    return end.wasStopped ? CancellationError() : nil
  }

  // MARK: Descriptors

  /// Ends a command that has no descriptor with which its end can be noticed, because the descriptors of the process
  /// ran out at this moment. Then swift-subprocess may not notice the end either, so the operation finishes without it.
  /// The task must not be cancelled, because then the method does not pause between two signals.
  private func abandonUnwatched(_ process: Int32, _ group: some CommandGroup) async {
    // Without a descriptor, the end of the process can only be found by asking again.
    repeat {
      group.kill()
      try? await Task.sleep(for: .milliseconds(1))
    } while !csystem_reap(process)
    events.note(.end)
    await abandon(.fileDescriptors)
  }

  private func abandon(_ code: CommandError.Code) async {
    await leavePlace()
    outcome.settle(.failure(CommandError(code, command.name)))
  }

  private func enterPlace() async throws {
    do {
      try await CommandPlaces.shared.enter()
    } catch is CommandPlaces.Shortage {
      throw CommandError(.fileDescriptors, command.name)
    }
    place.withLock { $0 = .starting }
  }

  private func notePlaceStarted() async {
    place.withLock { $0 = .running }
    await CommandPlaces.shared.noteStarted()
  }

  private func leavePlace() async {
    let last = place.withLock { place in
      defer { place = .left }
      return place
    }
    if last != .left { await CommandPlaces.shared.noteEnded(wasStarted: last == .running) }
  }

  // MARK: Lines

  /// Reports the lines of a file while the command runs, and the last ones after its end. Also lets the group look for
  /// its members.
  private func reportLines(of file: CommandFiles.WrittenFile, _ group: some CommandGroup) async {
    var tail = FileTail(path: file.path, from: file.size)
    var hasEnded = false
    while !hasEnded {
      await events.wait(for: [.end], atMost: Self.lookInterval)
      hasEnded = events.has(.end)
      if !hasEnded { group.look() }
      let lines = tail.advance(isLast: hasEnded)
      for line in lines { report.log(line) }
      if let last = lines.last(where: CommandReport.isStatus) { report.reportStatus(last) }
    }
  }
}
