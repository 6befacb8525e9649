// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorProtocol

/// `opq-top record`: records a process to a file.
struct RecordCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Records the queues of another process to a file.",
    discussion: """
      Without --pid, --wait, --socket or --run, records the only process that listens. Records until the process \
      ends, the time of --for is over, or a signal INT or TERM arrives. No terminal is needed. To show the \
      file, use "opq-top replay". The file contains the names, errors and log lines of the operations; \
      only its owner can read it. If the disk is full, exits with 1. If the connection is lost and \
      cannot be restored, for example because a login is denied, exits as "opq-top attach" does for this error. In \
      both cases, the part before can be replayed. The other exit statuses are those of "opq-top attach".

      "opq-top record -o FILE -- COMMAND" starts a command and records its first process that listens, \
      from its first operation. Signals are passed on to the command. Exits as the command does, or with 1 \
      if the recording failed, or if no process of the command listened. If COMMAND does not exist, exits \
      with 127; if it cannot be executed, with 126.
      """
        + Examples.help("record"))

  @OptionGroup var options: TargetOptions
  @OptionGroup var runs: RunPlaceOptions

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
  var output: String

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Stop after this time, such as 30s.", valueName: "time"))
  var duration: Interval?

  @Flag(help: "Overwrite the files if they exist.")
  var force = false

  @OptionGroup var launch: LaunchOptions

  func validate() throws {
    try runs.check(options)
    if launch.isGiven && options.isAnyGiven {
      throw ValidationError("a command after -- cannot be combined with \(TargetOptions.allWords)")
    }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    if launch.isGiven {
      return Launch.record(
        launch.command, outputPath: launch.commandOutput, into: output, replaces: force,
        for: duration?.duration)
    }
    do {
      // `ViewerRun` must be created before any other thread. It blocks signals in this thread, and
      // threads that are created later inherit the blocked signals.
      let run = try ViewerRun(try ViewOptions.parse([]))
      defer { run.links.close() }
      return try run.record(
        options.process(runs, run), into: output, replaces: force, for: duration?.duration)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }
}
