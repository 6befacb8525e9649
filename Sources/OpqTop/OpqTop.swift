// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// The command line.
struct OpqTop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opq-top",
    abstract: "Shows operation queues live: what is ready, what runs, what waits and why.",
    discussion: """
      Without arguments it shows the process of this user that listens, lets you choose where there are \
      several, and runs the demo "tiles" where there is none. In the dashboard, ? lists the keys and q \
      quits. With --batch it prints frames as text instead, and needs no terminal. "record" and "replay" \
      keep what there was to see in a file, and show it again. Run "opq-top help \
      attach" and "opq-top help demo" for the options; they may be given without the word.
      """,
    version: Version.number,
    subcommands: [
      AttachCommand.self, ListCommand.self, DemoCommand.self, WhyCommand.self, TreeCommand.self,
      WaitCommand.self, CancelCommand.self, SuspendCommand.self, ResumeCommand.self,
      RecordCommand.self, ReplayCommandLine.self, ExportCommand.self, ReportCommand.self,
      AutomaticCommand.self,
    ],
    defaultSubcommand: AutomaticCommand.self)
}

/// The program's own version, from which `--version`, the manual page and the package take it.
enum Version {
  static let number = "0.1.0"
}
