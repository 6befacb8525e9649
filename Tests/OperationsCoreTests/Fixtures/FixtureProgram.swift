// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// A program that is built together with the tests. Tests run it if they need a process with its
/// own main thread.
struct FixtureProgram {
  /// The program `fixture-programs`. Its first argument selects what it does.
  static let shared = FixtureProgram(name: "fixture-programs")

  let name: String

  /// Runs the program until it ends.
  ///
  /// - Parameters:
  ///   - arguments: The program's arguments.
  ///   - command: Another program that runs the program, and its arguments; by default none.
  ///   - environment: Additional variables, as `NAME=value`.
  /// - Returns: How the program ended, or `nil` if it did not end, and its output.
  /// - Throws: An error if the program cannot be started.
  func run(
    _ arguments: String..., by command: [String] = [], environment: [String] = []
  ) throws -> (ending: PseudoTerminal.Ending?, output: String) {
    let window = try PseudoTerminal(columns: 200, rows: 100)
    let words = command + [BuiltFolder.path(of: name)] + arguments
    try window.start(words[0], Array(words.dropFirst()), environment: environment)
    let ending = window.waitForEnd(seconds: 120)
    let output = window.screen.lines.filter { !$0.isEmpty }.joined(separator: "\n")
    return (ending, output)
  }
}
