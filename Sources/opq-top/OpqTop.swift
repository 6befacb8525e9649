// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// The command line.
struct OpqTop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opq-top",
    abstract: "Shows operation queues live: what is ready, what runs, what waits and why.",
    discussion: """
      Without arguments it shows the demo "tiles". In the dashboard, ? lists the keys and q quits.
      With --batch it prints frames as text instead, and needs no terminal. Run "opq-top help demo" \
      for this and the other options of the demo; they may be given without the word.
      """,
    version: "0.1.0",
    subcommands: [DemoCommand.self],
    defaultSubcommand: DemoCommand.self)
}
