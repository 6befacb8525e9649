// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Subprocess

/// A run whose command is a child of this process.
struct DirectRun: Sendable {
  let run: CommandRun

  private var command: Command { run.command }

  /// Starts the command, and waits for its end.
  func perform() async -> CommandOutcome.Value {
    if run.events.has(.stop) { return .failure(CancellationError()) }
    let files: CommandFiles
    let launch: CommandLaunch
    do {
      launch = try CommandLaunch(command)
      files = try CommandFiles(command)
    } catch {
      return .failure(error)
    }
    let readers = [files.outputStream, files.errorStream].map { stream in
      stream.map { OutputReader($0.pipe, OutputSink($0.output, run.report)) }
    }
    defer { for reader in readers { reader?.close() } }
    do {
      let (end, status) = try await launch.run(files) { process in
        files.closeOwn()
        return await run.supervise(
          process, ProcessGroup(id: process.value, events: run.events),
          readers: readers.compactMap(\.self), files: files.writtenFiles)
      }
      return result(end, status, readers.map { $0?.outcome })
    } catch {
      return .failure(launch.commandError(for: error))
    }
  }

  private func result(
    _ end: CommandRun.End, _ status: TerminationStatus, _ outcomes: [OutputReader.Outcome?]
  ) -> CommandOutcome.Value {
    if let error = run.cancellationError(for: end) { return .failure(error) }
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
    error.lastLine = run.report.lastLine
    return .failure(error)
  }
}
