// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Subprocess

/// A run whose command is started by a shim.
struct ShimRun: Sendable {
  let run: CommandRun
  let shell: String
  let text: String
  let files: ShimFiles
  let programs: ShimPrograms
  let willStart: @Sendable () async throws -> Void

  /// Starts the shim, and waits for its end.
  func perform() async -> CommandOutcome.Value {
    if run.events.has(.stop) { return .failure(CancellationError()) }
    let shim = ShimScript.shim(
      for: run.command, shell: shell, text: text, files: files, programs: programs)
    let launch: CommandLaunch
    let streams: CommandFiles
    do {
      launch = try CommandLaunch(shim)
      try await willStart()
      if run.events.has(.stop) { return .failure(CancellationError()) }
      streams = try CommandFiles(files, commandName: run.command.name)
    } catch {
      return .failure(error)
    }
    do {
      let ((end, written), exit) = try await launch.run(streams) { process in
        streams.closeOwn()
        let group = ShimGroup(shim: process.value, files: files, events: run.events)
        let end = await run.supervise(process, group, files: streams.writtenFiles)
        return (end, await run.exitStatus(of: group))
      }
      return run.result(end, status: written ?? status(exit))
    } catch {
      return .failure(launch.commandError(for: error))
    }
  }

  /// Returns the exit status of a command whose shim has not written it, because the disk is full: the shim also exits with
  /// it. Without a first process of the command, the status is that of a shim that could not start the command.
  private func status(_ exit: TerminationStatus) -> Int32? {
    if case .exited(let status) = exit, files.processes.command != nil { return status }
    return nil
  }
}

/// A run whose shim was started by another process.
struct AdoptedRun: Sendable {
  let run: CommandRun
  let shim: AdoptedShim
  let files: ShimFiles

  /// Waits for the end of the shim.
  func perform() async -> CommandOutcome.Value {
    let group = ShimGroup(shim: shim.processID, files: files, events: run.events)
    let log = CommandFiles.WrittenFile(path: files.log, size: 0)
    let end = await run.supervise(group, age: shim.age, files: [log]) { await shim.awaitEnd() }
    return run.result(end, status: await run.exitStatus(of: group))
  }
}

extension CommandRun {
  /// Returns the exit status that a shim has written; `nil` if there is none. If the command is alive nevertheless,
  /// because its shim was killed, ends it: no process would notice its end.
  fileprivate func exitStatus(of group: ShimGroup) async -> Int32? {
    if let status = group.files.exitStatus { return status }
    if group.isLeaderLeftAlone { _ = await group.killUntilEmpty() }
    return nil
  }

  /// Returns the result of a command whose shim has ended with an exit status, which can be unknown.
  fileprivate func result(_ end: End, status: Int32?) -> CommandOutcome.Value {
    if let error = cancellationError(for: end) { return .failure(error) }
    if status == 0 {
      return .success(
        CommandResult(output: [], errorOutput: [], isOutputComplete: true, duration: end.duration))
    }
    var error =
      status.flatMap { CommandError(shellStatus: $0, command.name) }
      ?? CommandError(.statusUnknown, command.name)
    error.lastLine = report.lastLine
    return .failure(error)
  }
}
