// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// The command to start, and the file for its output.
struct LaunchOptions: ParsableArguments {
  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp(
      "Start this command with the monitor on, after \"--\", and show or record it from its first operation.",
      valueName: "command"))
  var command: [String] = []

  @Option(
    name: .customLong("command-output"),
    help: ArgumentHelp(
      "With a command after \"--\": write its output to this file.", valueName: "file"))
  var commandOutput: String?

  /// Whether the options name a command.
  var isGiven: Bool { !command.isEmpty }

  func validate() throws {
    if commandOutput != nil, !isGiven {
      throw ValidationError("--command-output needs a command after --")
    }
  }
}

/// Arguments with which `opq-top attach` starts a command.
enum LaunchArguments {
  /// Returns the arguments without the word `attach` if a command follows `--`, because `opq-top attach OPTIONS --
  /// COMMAND` is the same as `opq-top OPTIONS -- COMMAND`.
  ///
  /// - Throws: `ValidationError` if the arguments also name a process.
  static func withoutAttach(_ arguments: [String]) throws -> [String] {
    guard arguments.first == "attach", let end = arguments.firstIndex(of: "--"),
      end < arguments.count - 1
    else { return arguments }
    if let attach = try? AttachCommand.parse(Array(arguments[1..<end])),
      let target = attach.targets.first
    {
      throw ValidationError("\(target) cannot be combined with a command after --")
    }
    return Array(arguments.dropFirst())
  }
}
