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
      Records until the process ends, the time of --for is over, or a signal INT or TERM arrives. No \
      terminal is needed. To show the file, use "opq-top replay". If the disk is full, exits with 1; the \
      part before can be replayed. The other exit statuses are those of "opq-top attach".
      """)

  @OptionGroup var options: TargetOptions

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
  var output: String

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Stop after this time, such as 30s.", valueName: "time"))
  var duration: Interval?

  @Flag(help: "Overwrite the file if it exists.")
  var force = false

  func validate() throws {
    if !options.isGiven {
      throw ValidationError("choose the process to record with --pid, --wait or --socket")
    }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      // `ViewerRun` must be created before any other thread. It blocks signals in this thread, and
      // threads that are created later inherit the blocked signals.
      let run = try ViewerRun(try ViewOptions.parse([]))
      return try run.record(
        options.path(nil, run), into: output, replaces: force, for: duration?.duration)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }
}
