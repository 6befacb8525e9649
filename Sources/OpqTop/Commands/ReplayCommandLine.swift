// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorProtocol

/// `opq-top replay`: plays what was recorded.
struct ReplayCommandLine: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Plays a recording.",
    discussion: """
      Space plays and stands still, [ and ] change the speed, ( and ) go back and on by 5 s, , and . by \
      one update, { and } to where a warning came up; ? lists all keys. With --batch it prints a frame \
      for each second, or each interval of -d, that was recorded. What was cut off or is damaged is \
      played up to there. The exit status is 2 where there is no such file or it is no recording, and 4 \
      where it was made by another major version.
      """)

  @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
  var file: String

  @OptionGroup var view: ViewOptions

  func validate() throws {
    if view.record != nil || view.force {
      throw ValidationError("a recording is not recorded again")
    }
  }

  /// Does it, and says how the process has to end.
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
