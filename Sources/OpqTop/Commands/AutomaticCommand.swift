// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// `opq-top` without a word: the one process that listens, a list to choose from where there are
/// several, or the demo where there is none. With options of the demo or of `attach` it is these.
struct AutomaticCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", shouldDisplay: false)

  @OptionGroup var demo: DemoOptions
  @OptionGroup var target: TargetOptions
  @OptionGroup var view: ViewOptions

  func validate() throws {
    if demo.isGiven && target.isGiven {
      throw ValidationError("a demo and --pid, --wait or --socket exclude each other")
    }
  }

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    if demo.isList { return DemoCommand.printList() }
    if demo.isGiven { return DemoCommand.show(demo.choice, view) }
    return Attachment(targets: [], options: target, view: view).ending {
      DemoCommand.show(demo.choice, view)
    }
  }
}
