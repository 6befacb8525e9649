// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import Subprocess

/// One run of a command, from its wait for file descriptors until its result.
final class CommandRun: Sendable {
  /// The time between two looks at the files that the command writes.
  private static let lookInterval = Duration.milliseconds(200)

  private let command: Command
  private let report: CommandReport
  private let events = CommandEvents()
  private let outcome = CommandOutcome()
  private let place = Locked(PlaceState.starting)

  /// Whether the run still counts as one that starts or runs.
  private enum PlaceState {
    case starting
    case running
    case left
  }

  init(_ command: Command, _ report: CommandReport) {
    self.command = command
    self.report = report
  }

  /// Runs the command. If the task is cancelled, ends the command and then throws `CancellationError`.
  func result() async throws -> CommandResult {
    do {
      try await CommandPlaces.shared.enter()
    } catch is CommandPlaces.Shortage {
      throw CommandError(.fileDescriptors, command.name)
    }
    // The cancellation of the operation's task does not cancel this task, because swift-subprocess would then kill the
    // first process of the command at once. The task uses the threads of the queue, as the operation's task does.
    Task(executorPreference: OperationQueue.current?.taskExecutor) {
      let result = await self.perform()
      await self.leavePlace()
      self.outcome.settle(result)
    }
    return try await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      events.note(.stop)
    }.get()
  }

  private func perform() async -> Result<CommandResult, any Error> {
    if events.has(.stop) { return .failure(CancellationError()) }
    let files: CommandFiles
    let launch: CommandLaunch
    do {
      launch = try CommandLaunch(command)
      files = try CommandFiles(command)
    } catch {
      return .failure(error)
    }
    let readers = [files.outputStream, files.errorStream].map { stream in
      stream.map { OutputReader($0.pipe, OutputSink($0.output, report)) }
    }
    defer { for reader in readers { reader?.close() } }
    do {
      let (end, status) = try await launch.run(files) { process in
        files.closeOwn()
        await self.notePlaceStarted()
        return await self.supervise(process, readers.compactMap(\.self), files.writtenFiles)
      }
      return result(end, status, readers.map { $0?.outcome })
    } catch {
      return .failure(launch.commandError(for: error))
    }
  }

  /// What is known when the command has ended.
  private struct End {
    let duration: Duration
    /// Whether the operation was cancelled, and whether a process of the command is alive nevertheless.
    let wasStopped: Bool
    let isAlive: Bool
  }

  /// Reads the output until the first process of the command has ended, and ends the group if the operation is cancelled.
  private func supervise(
    _ process: ProcessIdentifier, _ readers: [OutputReader], _ files: [CommandFiles.WrittenFile]
  ) async -> End {
    let begin = ContinuousClock.now
    let group = ProcessGroup(id: process.value, events: events)
    command.gracePeriods?.add(events)
    defer { command.gracePeriods?.remove(events) }
    if process.processDescriptor < 0 { await abandonUnwatched(process.value) }
    return await withTaskGroup(of: Void.self) { tasks in
      for reader in readers { tasks.addTask { await reader.read() } }
      for file in files { tasks.addTask { await self.reportLines(of: file) } }
      if process.processDescriptor >= 0 {
        let watch = DescriptorWatch(process.processDescriptor)
        tasks.addTask {
          await watch.wait()
          self.events.note(.end)
        }
      }
      await events.wait(for: [.stop, .end])
      var wasStopped = events.has(.stop)
      var isAlive = false
      if wasStopped { isAlive = await !group.stop(gracePeriod: command.gracePeriod) }
      if !events.has(.end) {
        // The first process cannot be ended, so swift-subprocess does not return. The operation finishes without it.
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

  /// Ends a command that has no descriptor with which its end can be noticed, because the descriptors of the process ran
  /// out at this moment. Then swift-subprocess may not notice the end either, so the operation finishes without it.
  private func abandonUnwatched(_ process: Int32) async {
    csystem_kill_group(process)
    // Without a descriptor, the end of the process can only be found by asking again.
    while !csystem_reap(process) { try? await Task.sleep(for: .milliseconds(1)) }
    events.note(.end)
    await abandon(.fileDescriptors)
  }

  private func abandon(_ code: CommandError.Code) async {
    await leavePlace()
    outcome.settle(.failure(CommandError(code, command.name)))
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

  /// Reports the lines of a file while the command runs, and the last ones after its end.
  private func reportLines(of file: CommandFiles.WrittenFile) async {
    var tail = FileTail(path: file.path, from: file.size)
    var hasEnded = false
    while !hasEnded {
      await events.wait(for: [.end], atMost: Self.lookInterval)
      hasEnded = events.has(.end)
      let lines = tail.advance(isLast: hasEnded)
      for line in lines { report.log(line) }
      if let last = lines.last(where: CommandReport.isStatus) { report.reportStatus(last) }
    }
  }

  private func result(
    _ end: End, _ status: TerminationStatus, _ outcomes: [OutputReader.Outcome?]
  ) -> Result<CommandResult, any Error> {
    if end.isAlive { return .failure(CommandError(.stillAlive, command.name)) }
    if end.wasStopped { return .failure(CancellationError()) }
    var error: CommandError
    switch status {
    case .exited(0):
      return .success(
        CommandResult(
          output: outcomes[0]?.collected ?? [], errorOutput: outcomes[1]?.collected ?? [],
          isOutputComplete: !outcomes.contains { $0?.isCut == true }, duration: end.duration))
    case .exited(let number):
      error = CommandError(.exitStatus, command.name)
      error.exitStatus = number
    case .signaled(let number):
      error = CommandError(.signal, command.name)
      error.signal = number
    }
    error.lastLine = report.lastLine
    return .failure(error)
  }
}
