// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import Subprocess
import SystemPackage

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
      streams = try await CommandFiles(files, commandName: run.command.name)
    } catch {
      return .failure(error)
    }
    do {
      let ((end, written, group), exit) = try await launch.run(streams) { process in
        streams.closeOwn()
        let group = ShimGroup(shim: process.value, files: files, events: run.events)
        let end = await run.supervise(process, group, files: streams.writtenFiles)
        return (end, await run.exitStatus(of: group), group)
      }
      return run.result(end, written.or(exit, of: group))
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
  /// The time limit, which begins with the start of the shim; `nil` if there is none.
  let timeout: Duration?

  /// Waits for the end of the shim, or ends the command if it exceeds its time limit.
  func perform() async -> CommandOutcome.Value {
    let group = ShimGroup(shim: shim.processID, files: files, events: run.events)
    group.look()
    let log = CommandFiles.WrittenFile(path: files.log, size: 0)
    let expiry = timeout.map { expire(after: $0) }
    let end = await run.supervise(group, age: shim.age, files: [log]) { await shim.awaitEnd() }
    if let timeout, end.wasStopped, await expiry?.value == true {
      return .failure(OperationTimeoutError(limit: timeout))
    }
    return run.result(end, await run.exitStatus(of: group))
  }

  /// Ends the command when it exceeds its time limit.
  ///
  /// - Returns: A task that returns whether the limit has ended the command.
  private func expire(after timeout: Duration) -> Task<Bool, Never> {
    let rest = max(.zero, timeout - shim.age)
    return Task { [events = run.events] in
      await events.wait(for: [.end, .stop], atMost: rest)
      guard !events.has(.end), !events.has(.stop) else { return false }
      events.note(.stop)
      return true
    }
  }
}

/// What is known about the exit status of a command whose shim has ended.
private enum WrittenStatus: Sendable {
  case known(Int32)
  /// The shim has not written it, because it was killed or the disk is full.
  case missing
  /// The file cannot be read.
  case unreadable(Errno)

  /// Returns the exit status of the shim if the file is of no use: the shim also exits with the status of the command.
  /// Without a first process of the command, the status is that of a shim that could not start the command.
  func or(_ exit: TerminationStatus, of group: ShimGroup) -> WrittenStatus {
    if case .known = self { return self }
    if case .exited(let status) = exit, group.hasStarted { return .known(status) }
    return self
  }
}

extension CommandRun {
  /// The time for which a file is read again that cannot be read for another reason than a shortage of descriptors.
  private static let readLimit = Duration.seconds(1)

  /// Returns the exit status that a shim has written. If the command is alive nevertheless, because its shim was
  /// killed, ends it: no process would notice its end.
  fileprivate func exitStatus(of group: ShimGroup) async -> WrittenStatus {
    let status = await writtenStatus(group.files)
    if case .known = status { return status }
    if group.isLeaderLeftAlone { _ = await group.killUntilEmpty() }
    return status
  }

  private func writtenStatus(_ files: ShimFiles) async -> WrittenStatus {
    let deadline = ContinuousClock.now + Self.readLimit
    var pause = Duration.milliseconds(1)
    while true {
      do throws(Errno) {
        return try files.exitStatus.map { .known($0) } ?? .missing
      } catch {
        // A shortage of descriptors passes when other commands end. The status of a cancelled command is not needed.
        let canPass = csystem_is_out_of_descriptors(error.rawValue)
        if events.has(.stop) || !canPass && ContinuousClock.now >= deadline {
          return .unreadable(error)
        }
      }
      await events.wait(for: [.stop], atMost: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  /// Returns the result of a command whose shim has ended.
  fileprivate func result(_ end: End, _ status: WrittenStatus) -> CommandOutcome.Value {
    if let error = cancellationError(for: end) { return .failure(error) }
    var error = CommandError(.statusUnknown, command.name)
    switch status {
    case .known(0):
      return .success(
        CommandResult(output: [], errorOutput: [], isOutputComplete: true, duration: end.duration))
    case .known(let status): error = CommandError(shellStatus: status, command.name) ?? error
    case .missing: break
    case .unreadable(let reason): error.reason = "\(reason)"
    }
    error.lastLine = report.lastLine
    return .failure(error)
  }
}
