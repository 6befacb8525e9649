// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport
import Testing

/// A program that was built with the tests, for what needs a main thread of its own.
struct FixtureProgram {
  /// The program whose first argument says what it does.
  static let shared = FixtureProgram(name: "fixture-programs")

  let name: String

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - arguments: The program's arguments.
  ///   - command: A program that runs it, and the arguments of that.
  ///   - environment: Variables besides the usual ones, as `NAME=value`.
  /// - Returns: How it ended, `nil` where it did not; and what it printed.
  /// - Throws: What starting it throws.
  func run(
    _ arguments: String..., by command: [String] = [], environment: [String] = []
  ) throws -> (ending: PseudoTerminal.Ending?, output: String) {
    let window = try PseudoTerminal(columns: 200, rows: 100)
    let words = command + [try path] + arguments
    try window.start(words[0], Array(words.dropFirst()), environment: environment)
    let ending = window.waitForEnd(seconds: 120)
    let output = window.screen.lines.filter { !$0.isEmpty }.joined(separator: "\n")
    return (ending, output)
  }

  /// Where it is: beside the tests.
  private var path: String {
    get throws {
      let tests = try #require(realpath("/proc/self/exe", nil))
      defer { free(tests) }
      return String(cString: dirname(tests)) + "/" + name
    }
  }
}
