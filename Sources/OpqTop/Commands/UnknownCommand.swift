// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import DemoWorkloads

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
    let distances = names.map { (name: $0, distance: Self.distance(from: word, to: $0)) }
    let best = distances.min { $0.distance < $1.distance }
    nearest = best.flatMap { $0.distance * 2 <= max(2, word.count) ? $0.name : nil }
  }

  /// The message for the user as one sentence.
  var message: String {
    let advice =
      nearest.map { "did you mean \"\($0)\"?" } ?? "\"opq-top --help\" lists the commands"
    return "unknown command \"\(word)\"; \(advice)"
  }

  /// Returns the number of letters to insert, remove, replace or swap with their neighbours so that one word
  /// becomes the other.
  static func distance(from left: String, to right: String) -> Int {
    // The length limit keeps the time short for an argument of any length.
    let (left, right) = (Array(left.lowercased().prefix(40)), Array(right))
    var rows = [Array(0...right.count)]
    for (row, letter) in left.enumerated() {
      var distances = [row + 1]
      for (column, other) in right.enumerated() {
        var best = min(
          rows[row][column] + (letter == other ? 0 : 1), rows[row][column + 1] + 1,
          distances[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          best = min(best, rows[row - 1][column - 1] + 1)
        }
        distances.append(best)
      }
      rows.append(distances)
    }
    return rows[left.count][right.count]
  }
}
