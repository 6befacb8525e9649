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
      let (end, _) = try await launch.run(streams) { process in
        streams.closeOwn()
        let group = ShimGroup(shim: process.value, files: files, events: run.events)
        let end = await run.supervise(process, group, files: streams.writtenFiles)
        await run.endLeftovers(of: group)
        return end
      }
      return run.result(end, files)
    } catch {
      return .failure(launch.commandError(for: error))
    }
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
    await run.endLeftovers(of: group)
    return run.result(end, files)
  }
}

extension CommandRun {
  /// Ends a command whose shim was killed. Nobody would know its end.
  fileprivate func endLeftovers(of group: ShimGroup) async {
    if group.isLeaderLeftAlone { _ = await group.killUntilEmpty() }
  }

  /// Returns the result of a command whose shim has ended.
  fileprivate func result(_ end: End, _ files: ShimFiles) -> CommandOutcome.Value {
    if let error = cancellationError(for: end) { return .failure(error) }
    var error = CommandError(.statusUnknown, command.name)
    if let status = files.exitStatus {
      guard let failure = CommandError(shellStatus: status, command.name) else {
        return .success(
          CommandResult(output: [], errorOutput: [], isOutputComplete: true, duration: end.duration)
        )
      }
      error = failure
    }
    error.lastLine = report.lastLine
    return .failure(error)
  }
}
