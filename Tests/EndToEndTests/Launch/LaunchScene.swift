// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

@testable import MonitorProtocol
@testable import OpqTop

/// A directory for the sockets and the files of one test in which a viewer starts the fixture `launched`.
struct LaunchScene {
  /// The path of the fixture, which runs 50 operations without a wait.
  static let program = BuiltFolder.path(of: "fixture-launched")
  /// The number of operations in the first batch of the fixture.
  static let batchCount = 50

  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Returns the path of a file of this test.
  func file(_ name: String) -> String { directory.file(name) }

  /// Returns the contents of a file; empty if it does not exist.
  func contents(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  /// Starts a program on a new terminal. Standard output and standard error are the files `output` and `errors`,
  /// unless the test needs the terminal for them.
  func start(
    _ arguments: [String], of path: String = BuiltProgram.path, environment: [String] = [],
    showsScreen: Bool = false, input: String? = nil
  ) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: 120, rows: 30)
    var redirections: [Int32: String] = showsScreen ? [:] : [1: file("output"), 2: file("errors")]
    if let input { redirections[0] = input }
    try window.start(
      path, arguments,
      environment: environment + [
        MonitoredProcess.variable(directory), "TMPDIR=\(directory.path)",
      ],
      redirections: redirections)
    return window
  }

  /// Runs a program to its end.
  func run(
    _ arguments: [String], of path: String = BuiltProgram.path, environment: [String] = [],
    input: String = "/dev/null"
  ) throws -> PseudoTerminal.Ending? {
    try start(arguments, of: path, environment: environment, input: input).waitForEnd()
  }

  /// Waits until a file contains a text.
  func wait(for text: String, in name: String) -> Bool {
    poll(for: .seconds(60), pausing: true) { contents(name).contains(text) }
  }

  /// Returns the last state in a recording.
  func recorded(_ name: String) throws -> ProcessState {
    var reader = try RecordingReader(path: file(name))
    var state = ProcessState()
    var offset = reader.snapshot(upTo: reader.start)
    while let update = reader.update(at: offset) {
      state.apply(update.update, isWhole: update.isWhole)
      offset = update.end
    }
    return state
  }

  /// Checks that a recording has each operation of a batch, and that all of them have finished.
  func expectBatch(
    _ prefix: String = "operation", count: Int = LaunchScene.batchCount, in name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let finished = try recorded(name).operations.all.filter {
      $0.name.hasPrefix(prefix) && $0.state == .finished
    }
    #expect(
      Set(finished.map(\.name)) == Set((1...count).map { "\(prefix) \($0)" }),
      sourceLocation: sourceLocation)
  }

  /// Returns whether a recording ends with its index, which completes it.
  func isComplete(_ name: String) throws -> Bool {
    let bytes = try Data(contentsOf: URL(filePath: file(name)))
    return bytes.suffix(RecordingFormat.endMagic.count).elementsEqual(RecordingFormat.endMagic)
  }

  /// The paths of the temporary files for the output of commands.
  var outputFiles: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.filter { $0.hasPrefix("opq-top-output-") }.map { file($0) }
  }
}
