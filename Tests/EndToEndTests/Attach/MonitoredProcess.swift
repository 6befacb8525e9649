// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// A monitored process for tests. Its socket is in a directory that only one test uses.
final class MonitoredProcess {
  /// The directory that is used instead of the user's runtime directory.
  let runtime: TemporaryDirectory
  /// The process id.
  let id: Int32
  private let window: PseudoTerminal
  private let log: String

  /// Starts the demo that listens for viewers, and waits until it listens.
  ///
  /// - Parameter runtime: The directory of another process, if both processes must use the same
  ///   directory; by default a new directory.
  /// - Throws: `PseudoTerminal.Failure` if it cannot be started.
  convenience init(in runtime: TemporaryDirectory? = nil) throws {
    try self.init(
      BuiltFolder.path(of: "demo-monitored-process"), in: runtime, until: "opq-top attach")
  }

  /// Starts any program, as another user if one is given, and waits for its first output.
  init(
    _ path: String, _ arguments: [String] = [], environment: [String] = [],
    in runtime: TemporaryDirectory? = nil, user: UInt32? = nil, until text: String
  ) throws {
    self.runtime = try runtime ?? TemporaryDirectory()
    log = self.runtime.file("log-\(UUID().uuidString)")
    window = try PseudoTerminal(columns: 120)
    let (path, arguments) = Self.words(path, arguments, as: user)
    try window.start(
      path, arguments, environment: environment + [Self.variable(self.runtime)],
      redirections: [2: log])
    #expect(window.wait { $0.contains(text) })
    id = try #require(window.child)
  }

  deinit {
    window.signal(SIGKILL)
    _ = window.waitForEnd()
  }

  /// Returns the environment variable that makes a program look for sockets only in this directory.
  /// Without it, a program would also find other listening processes of the user.
  static func variable(_ runtime: TemporaryDirectory) -> String {
    "OPQ_SOCKET_DIRECTORY=\(runtime.file("opq"))"
  }

  /// The system's program `setpriv`, which runs a program as another user.
  static let starter = "/usr/bin/setpriv"

  private static func words(
    _ path: String, _ arguments: [String], as user: UInt32?
  ) -> (path: String, arguments: [String]) {
    guard let user else { return (path, arguments) }
    return (starter, ["--reuid=\(user)", "--clear-groups", path] + arguments)
  }

  /// The log of the process.
  var logged: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  /// Waits until a line of the process's output begins with a text, and returns the rest of the line.
  func line(after text: String) throws -> String {
    #expect(window.wait { $0.contains(text) })
    let line = try #require(window.screen.lines.first { $0.hasPrefix(text) })
    return String(line.dropFirst(text.count))
  }

  /// Waits until the log contains a text. The log is written on another thread than the answer to a
  /// viewer.
  func waitUntilLogged(_ text: String) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !logged.contains(text) {
      guard ContinuousClock.now < deadline else { return false }
      window.absorb(for: .milliseconds(20))
    }
    return true
  }

  /// The path of the socket on which the process listens; empty if there is no socket.
  var socket: String {
    let directory = runtime.file("opq")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.first { $0.hasPrefix("\(id)-") }.map { "\(directory)/\($0)" } ?? ""
  }

  /// Sends a signal to the process.
  func signal(_ number: Int32) { window.signal(number) }

  /// Waits for the end of the process, and returns its ending.
  func waitForEnd() -> PseudoTerminal.Ending? { window.waitForEnd() }

  /// Starts the dashboard on a terminal, and waits for its first complete frame.
  func watch(
    columns: Int = 120, rows: Int = 30, _ arguments: [String] = [], until text: String = "total"
  ) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: columns, rows: rows)
    try window.start(
      BuiltProgram.path, arguments, environment: [Self.variable(runtime)])
    #expect(window.wait { $0.isAlternate && $0.contains(text) })
    return window
  }

  /// Runs the program to its end without a terminal, as another user if one is given, and returns
  /// its output and its ending.
  func run(
    _ arguments: [String], user: UInt32? = nil
  ) throws -> (output: String, errors: String, ending: PseudoTerminal.Ending?) {
    let output = runtime.file("output-\(UUID().uuidString)")
    let errors = runtime.file("errors-\(UUID().uuidString)")
    let window = try PseudoTerminal()
    let (path, arguments) = Self.words(BuiltProgram.path, arguments, as: user)
    try window.start(
      path, arguments, environment: [Self.variable(runtime)],
      redirections: [0: "/dev/null", 1: output, 2: errors])
    let ending = window.waitForEnd(seconds: 60)
    return (
      (try? String(contentsOfFile: output, encoding: .utf8)) ?? "",
      (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "", ending
    )
  }

  /// Runs `opq-top ls` until all processes answer, and returns the output. A busy process may not
  /// answer at the first attempt.
  func list() throws -> (output: String, errors: String, ending: PseudoTerminal.Ending?) {
    let deadline = ContinuousClock.now + .seconds(30)
    while true {
      let listed = try run(["ls"])
      let isComplete = !listed.output.contains("does not answer")
      if isComplete || ContinuousClock.now > deadline { return listed }
    }
  }

  /// Runs `opq-top --batch` for one frame, and returns the number of finished operations in the
  /// frame.
  func finishedCount() throws -> Int {
    let (output, _, _) = try run(["-p", "\(id)", "--batch", "-n", "1"])
    let words = output.split(whereSeparator: { " ,;".contains($0) })
    let index = try #require(words.firstIndex(of: "finished"))
    return try #require(Int(words[index + 1]))
  }
}
