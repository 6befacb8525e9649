// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorProtocol

/// `opq-top replay`: replays a recording.
struct ReplayCommandLine: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Replays a recording.",
    discussion: """
      Space starts and pauses, [ and ] change the speed, ( and ) seek by 5 s, the keys , and . step by one \
      update, { and } seek to warnings, and ? lists all keys. With --batch, prints a frame for each second, \
      or for each interval of -d. If the recording is damaged or cut off, the part before is replayed. \
      Exits with 2 if the file does not exist or is not a recording, and with 4 if another major version \
      made it.
      """
        + Examples.help("replay"))

  @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
  var file: String

  @OptionGroup var view: ViewOptions

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      let reader = try RecordingReader(path: file)
      guard view.batch || Program.hasTerminal else { throw TerminalError(.notATerminal) }
      return try ViewerRun(view).replay(reader, of: file)
    } catch {
      return Program.fail(error)
    }
  }
}
