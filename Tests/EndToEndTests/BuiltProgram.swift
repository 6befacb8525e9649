// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

/// The program `opq-top` that was built together with the tests.
enum BuiltProgram {
  /// The path of `opq-top`, in the folder that contains the running tests.
  static let path = BuiltFolder.path(of: "opq-top")

  /// The environment variable with which the program finds no listening process. Without it, the program would show
  /// another process of this machine instead of the demo, if one listens.
  private static let alone = "OPQ_SOCKET_DIRECTORY=/nonexistent/opq"

  /// Starts the program on a terminal, and waits for its first complete frame.
  static func start(
    columns: Int = 80, rows: Int = 24, _ arguments: [String] = [], environment: [String] = [],
    redirections: [Int32: String] = [:]
  ) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: columns, rows: rows)
    try window.start(
      path, arguments, environment: [alone] + environment, redirections: redirections)
    window.wait { $0.isAlternate && $0.contains("total") }
    return window
  }

  /// Starts the program from a shell on a terminal, and waits for the program's first complete
  /// frame.
  ///
  /// When the program ends, the shell prints `back` and the exit status. The shell keeps the
  /// terminal open until a line is typed.
  static func startInShell(_ arguments: String = "") throws -> PseudoTerminal {
    let window = try PseudoTerminal()
    let script = "'\(path)' \(arguments); echo \"back $?\"; read line"
    try window.start("/bin/sh", ["-c", script], environment: [alone])
    window.wait { $0.isAlternate && $0.contains("total") }
    return window
  }

  /// Runs the program to its end without a terminal. Returns its exact standard output, without
  /// standard error, and its ending.
  static func output(
    _ arguments: [String]
  ) throws -> (text: String, ending: PseudoTerminal.Ending?) {
    let directory = try TemporaryDirectory()
    let window = try PseudoTerminal()
    try window.start(
      path, arguments, environment: [alone],
      redirections: [0: "/dev/null", 1: directory.file("output")])
    let ending = window.waitForEnd()
    return (try String(contentsOfFile: directory.file("output"), encoding: .utf8), ending)
  }

  /// Returns the exact standard output of a line of Bash.
  static func shellOutput(_ line: String) throws -> String {
    let directory = try TemporaryDirectory()
    let window = try PseudoTerminal()
    try window.start(
      "/bin/bash", ["-c", line], redirections: [0: "/dev/null", 1: directory.file("output")])
    _ = window.waitForEnd()
    return String(
      decoding: try Data(contentsOf: URL(filePath: directory.file("output"))), as: UTF8.self)
  }
}
