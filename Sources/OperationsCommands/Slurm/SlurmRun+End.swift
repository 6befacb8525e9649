// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension SlurmRun {
  /// The number of attempts to read the rest of the output, and the pause after the first one. Each further pause is
  /// twice as long.
  private static let mostAttempts = 5
  private static let firstPause = Duration.milliseconds(500)

  /// Reads the rest of the output, and deletes the files of a job that has ended.
  ///
  /// - Returns: The result of the command.
  func finish(_ progress: inout Progress) async -> CommandOutcome.Value {
    let isComplete = await readRest(&progress)
    progress.outputs.end()
    if keepsFiles, !progress.job.hasStarted, !progress.job.isRevoked, progress.end != .exited(0),
      let submission = progress.job.submission
    {
      // A controller that was killed may start the job later. The files stay, so the permit must be renamed.
      _ = await revoke(submission)
    }
    if !isComplete, !run.events.has(.stop) {
      run.report.log("the output of the job cannot be read; its files are \(files.base).*")
    }
    run.report.reportState(run.report.lastLine ?? "")
    if progress.job.hasEnded, !keepsFiles, isComplete || run.events.has(.stop) {
      _ = try? await cluster.calls.run(SlurmScript.delete(files))
    }
    guard let end = progress.end, !run.events.has(.stop) else {
      return .failure(CancellationError())
    }
    if let timeout, progress.job.hasExpired {
      return .failure(OperationTimeoutError(limit: timeout))
    }
    if end == .exited(0) {
      let measured = progress.started.map { $0.duration(to: .now) } ?? .zero
      return .success(
        progress.outputs.result(
          isComplete: isComplete, duration: progress.duration ?? measured))
    }
    return .failure(error(of: end))
  }

  /// Reads the files of a job that has ended until all bytes were read. If a file cannot be read, this is repeated a
  /// limited number of times.
  ///
  /// - Returns: Whether all bytes were read; `true` if the command was not started.
  private func readRest(_ progress: inout Progress) async -> Bool {
    var attempts = 0
    var pause = Self.firstPause
    var hasStarted = progress.job.hasStarted || progress.end?.hasExitStatus == true
    while true {
      var rest = SlurmOutputs.Rest.unreadable
      if let contents = await look(progress.outputs.next) {
        progress.duration = contents.duration.map { .seconds($0) } ?? progress.duration
        rest = progress.outputs.takeLast(contents.parts)
        if contents.sign != nil { hasStarted = true }
        if case .notStarted(let obstacle)? = contents.status {
          // A network file system can show the file after Slurm has shown the end.
          if case .recorded? = progress.end { progress.end = .notStarted(obstacle) }
          return true
        }
      }
      if !hasStarted { return true }
      switch rest {
      case .nothing: return true
      case .more: continue
      case .unreadable:
        attempts += 1
        if attempts == Self.mostAttempts || run.events.has(.stop) { return false }
        await run.events.wait(for: [.stop], atMost: pause)
        pause *= 2
      }
    }
  }

  /// Returns the error of a job that has not ended with the exit status 0.
  private func error(of end: SlurmJob.End) -> any Error {
    let name = run.command.name
    var error = CommandError(.statusUnknown, name)
    switch end {
    case .exited(let status): error = CommandError(shellStatus: status, name) ?? error
    case .recorded(let exit) where exit.signal == 0:
      error = CommandError(shellStatus: exit.status, name) ?? error
    case .recorded(let exit):
      error = CommandError(.signal, name)
      error.signal = exit.signal
    case .notStarted(let obstacle): return self.error(of: obstacle)
    case .unusableFiles(let reason):
      error = CommandError(.file, name)
      error.path = files.log
      error.reason = reason
    case .refused(let words):
      error = CommandError(.refusedBySlurm, name)
      error.reason = words
    case .ended(let state):
      error = CommandError(.endedBySlurm, name)
      error.slurmState = state.description
      error.reason =
        SlurmWords.sentence(about: state).map { "\($0) (\(state))" } ?? state.description
    case .lost:
      error = CommandError(.lostBySlurm, name)
      error.reason = "neither Slurm nor the files of the job show that it runs"
    case .neverStarted:
      error = CommandError(.notStartedBySlurm, name)
      error.reason =
        "the job was submitted \(SlurmJob.mostSubmissions) times, and Slurm did not show it"
    case .stopped: return CancellationError()
    case .unknown: break
    }
    error.lastLine = run.report.lastLine
    return error
  }

  /// Returns the error of a command that cannot be started on its node.
  private func error(of obstacle: SlurmFileContents.Obstacle) -> CommandError {
    let command = run.command
    var error = CommandError(.file, command.name)
    switch obstacle {
    case .directory:
      error = CommandError(.workingDirectory, command.name)
      error.path = command.workingDirectory ?? Self.currentDirectory
      error.reason = "it does not exist on the node, or cannot be entered"
    case .program: error = CommandError(.programNotFound, command.name)
    case .input:
      if case .file(let path) = command.input { error.path = path }
    case .output:
      if case .file(let path, _) = command.output { error.path = path }
    case .error:
      if case .file(let path, _)? = command.errorOutput { error.path = path }
    }
    return error
  }
}
