// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// `opq-top` without a command. If one process listens, the program attaches to it. If several
/// processes listen, the program offers a list. If no process listens, the program runs the demo.
/// Options of `demo` and `attach` select one of these commands. If a command follows `--`, the program starts
/// and shows it.
struct DefaultCommand: EndingCommand {
  static let configuration = CommandConfiguration(commandName: "show", shouldDisplay: false)

  @OptionGroup var demo: DemoOptions
  @OptionGroup var target: TargetOptions
  @OptionGroup var runs: RunPlaceOptions
  @OptionGroup var view: ViewOptions
  @OptionGroup var recording: RecordingOptions
  @OptionGroup var launch: LaunchOptions

  func validate() throws {
    try runs.check(target)
    if demo.isGiven && target.isAnyGiven {
      throw ValidationError("a demo cannot be combined with \(TargetOptions.allWords)")
    }
    if launch.isGiven && (demo.isGiven || target.isAnyGiven) {
      throw ValidationError(
        "a command after -- cannot be combined with a demo, \(TargetOptions.allWords)")
    }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    if launch.isGiven {
      return Launch.show(
        launch.command, outputPath: launch.commandOutput, view, recording)
    }
    if demo.isList { return DemoCommand.printList() }
    if demo.isGiven { return DemoCommand.show(demo.choice, view, recording) }
    return Attachment(targets: [], options: target, runs: runs, view: view, recording: recording)
      .ending {
        DemoCommand.show(demo.choice, view, recording)
      }
  }
}
