// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// The command `opq-top` with its subcommands.
struct OpqTop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opq-top",
    abstract: "Shows operation queues live, and why an operation does not run.",
    discussion: """
      Without arguments, opq-top attaches to the process of this user that listens, offers a list if there \
      are several, and runs the demo "tiles" if there is none. In the dashboard, ? lists the keys and q \
      quits. With --batch, it prints frames as text and needs no terminal. "record" and "replay" write and \
      show recordings.

      "opq-top [options] -- COMMAND" starts a command and shows its first process that listens, from its \
      first operation. Its output goes to a file, is printed at the end, and is not on the screen. \
      --command-output names the file. Signals are passed on to the command. If you quit while the command \
      runs, it continues. Otherwise, opq-top exits as the command does.

      "opq-top attach HOST:PID" and "opq-top ls HOST" watch processes of another machine through ssh, and the option -H \
      selects the machine for all commands that take a process.

      "opq-top help attach" and "opq-top help demo" list the options, which also work \
      without the command.
      """ + Examples.help("opq-top"),
    version: Version.number,
    subcommands: [
      AttachCommand.self, ListCommand.self, RelayCommand.self, RunCommand.self, RunsCommand.self,
      RetryCommand.self,
      DemoCommand.self, WhyCommand.self, TreeCommand.self, LogCommand.self, WaitCommand.self,
      CancelCommand.self, SuspendCommand.self, ResumeCommand.self,
      RecordCommand.self, ReplayCommandLine.self, ExportCommand.self, ReportCommand.self,
      DefaultCommand.self,
    ],
    defaultSubcommand: DefaultCommand.self)
}

/// The version of the program, which `--version` and the package show.
enum Version {
  static let number = "0.1.0"
}
