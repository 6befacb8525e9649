// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import DemoWorkloads
import MonitorProtocol

/// A word on the command line that names neither a command nor a demo.
struct UnknownCommand: Equatable {
  let word: String
  /// The name of the command or the demo that is most similar to the word; `nil` if no name is similar.
  let nearest: String?

  /// Finds the unknown command in the arguments; `nil` if the arguments name a command or a demo, or if they
  /// begin with an option.
  init?(in arguments: [String]) {
    var commands: [String] = []
    for command in OpqTop.configuration.subcommands where command.configuration.shouldDisplay {
      if let name = command.configuration.commandName { commands.append(name) }
    }
    var names = commands + ["help"] + Demo.allCases.map(\.name)
    var words = arguments[...]
    if words.first == "help" {
      words = words.dropFirst()
      names = commands
    }
    guard let word = words.first, !word.hasPrefix("-"), !names.contains(word) else { return nil }
    self.word = word
    nearest = NearestName.nearest(to: word, in: names)
  }

  /// The message for the user as one sentence.
  var message: String {
    let advice =
      nearest.map { "did you mean \"\($0)\"?" } ?? "\"opq-top --help\" lists the commands"
    return "unknown command \"\(word)\"; \(advice)"
  }
}
