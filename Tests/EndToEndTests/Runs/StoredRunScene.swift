// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A directory with a job file, and the runs of this file. The programs of a test start in this directory.
final class StoredRunScene {
  let scene: LaunchScene
  /// The path of the job file.
  let file: String
  private var programCount = 0

  /// Creates a scene. The jobs find its directory in the variable `DIR`.
  ///
  /// - Parameters:
  ///   - jobs: The lines below the key `jobs`.
  ///   - head: The lines above the key `jobs`.
  /// - Throws: The error of a system call.
  init(_ jobs: String, head: String = "") throws {
    scene = try LaunchScene()
    file = scene.file("jobs.yaml")
    try write(jobs, head: head)
  }

  deinit {
    // A failed test can leave a runner without a terminal behind. Its jobs end when the directory is gone.
    for run in runs { if let runner = run.runner { endProcess(runner) } }
  }

  /// Ends a process, if it belongs to this scene.
  private func endProcess(_ process: Int32) {
    let environment = try? Data(contentsOf: URL(filePath: "/proc/\(process)/environ"))
    if environment?.range(of: Data("TMPDIR=\(directory)\0".utf8)) != nil { kill(process, SIGKILL) }
  }

  /// The path of the directory.
  var directory: String { scene.directory.path }

  /// Replaces the job file.
  func write(_ jobs: String, head: String = "") throws {
    try "environment: {DIR: '\(directory)'}\n\(head)\njobs:\n\(jobs)\n".write(
      toFile: file, atomically: true, encoding: .utf8)
  }

  /// Creates an empty file, for which jobs wait.
  func open(_ gate: String = "go") throws {
    try "".write(toFile: scene.file(gate), atomically: true, encoding: .utf8)
  }

  /// Returns the lines of a file of the directory.
  func lines(_ name: String) -> [String] {
    scene.contents(name).split(separator: "\n").map { String($0) }
  }

  /// Waits until a file of the directory contains a text.
  func wait(for text: String, in name: String) -> Bool { scene.wait(for: text, in: name) }

  /// Waits until a condition is true that depends on other processes.
  ///
  /// - Parameters:
  ///   - microseconds: The time between two checks.
  ///   - isSo: The condition.
  /// - Returns: Whether the condition was true in time.
  func wait(every microseconds: UInt32 = 10_000, until isSo: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isSo() {
      if ContinuousClock.now > deadline { return isSo() }
      usleep(microseconds)
    }
    return true
  }

  // MARK: The runs

  /// The runs beside the job file, the oldest one first.
  var runs: [StoredRun] { runs(in: scene.file(".opq/runs")) }

  /// Returns the runs in a directory, the oldest one first.
  func runs(in path: String) -> [StoredRun] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted().map { StoredRun(path: "\(path)/\($0)") }
  }

  /// Returns the only run beside the job file.
  func onlyRun(sourceLocation: SourceLocation = #_sourceLocation) throws -> StoredRun {
    let runs = runs
    #expect(runs.count == 1, sourceLocation: sourceLocation)
    return try #require(runs.first, sourceLocation: sourceLocation)
  }

  // MARK: Programs

  /// Starts `opq-top` without a terminal for its output. Its output and its errors are files of its own.
  func start(_ arguments: [String], environment: [String] = []) throws -> StartedProgram {
    programCount += 1
    let (output, errors) = ("output-\(programCount)", "errors-\(programCount)")
    let window = try start(
      arguments, environment: environment,
      redirections: [0: "/dev/null", 1: scene.file(output), 2: scene.file(errors)])
    return StartedProgram(
      window: window, outputPath: scene.file(output), errorPath: scene.file(errors))
  }

  /// Starts `opq-top` on a terminal.
  func show(_ arguments: [String], environment: [String] = []) throws -> PseudoTerminal {
    try start(arguments, environment: environment, redirections: [:])
  }

  private func start(
    _ arguments: [String], environment: [String], redirections: [Int32: String]
  ) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: 120, rows: 30)
    try window.start(
      "/bin/sh",
      ["-c", "cd \"$1\" && shift && exec \"$0\" \"$@\"", BuiltProgram.path, directory] + arguments,
      environment: environment + [
        MonitoredProcess.variable(scene.directory), "TMPDIR=\(directory)",
      ],
      redirections: redirections)
    return window
  }

  /// Runs `opq-top` to its end.
  @discardableResult
  func run(_ arguments: [String], environment: [String] = []) throws -> StartedProgram {
    let program = try start(arguments, environment: environment)
    program.end()
    return program
  }

  /// Waits until a runner executes a job, which it may have adopted.
  func waitUntilExecuting(_ job: String, in program: StartedProgram) throws -> Bool {
    let process = "\(try #require(program.window.child))"
    return wait {
      let arguments = ["wait", "--state", "executing", "--timeout", "10", job, "-p", process]
      return (try? run(arguments).ending) == .status(0)
    }
  }
}

extension StoredRunScene {
  /// Returns a command that waits until a file exists. It also ends after the test, whose directory is then gone.
  static func hold(_ gate: String = "go") -> String {
    #"until test -e "$DIR/\#(gate)" || ! test -d "$DIR"; do sleep 0.02; done"#
  }

  /// Returns whether a process exists and has not ended.
  static func isAlive(_ process: Int32) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return !status.isEmpty && !status.contains("State:\tZ")
  }
}

/// A started `opq-top` whose output and errors are files.
final class StartedProgram {
  let window: PseudoTerminal
  /// The path of the file with the output.
  let outputPath: String
  private let errorPath: String
  /// How the program has ended; `nil` if it was not awaited, or has not ended in time.
  private(set) var ending: PseudoTerminal.Ending?

  init(window: PseudoTerminal, outputPath: String, errorPath: String) {
    self.window = window
    self.outputPath = outputPath
    self.errorPath = errorPath
  }

  var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }
  var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }
  /// The lines of the output without durations.
  var lines: [String] {
    output.split(separator: "\n").map {
      String($0).replacing(#/ in [0-9.]+(ms|s|m[0-9]+s)/#, with: "")
    }
  }

  /// Waits until the program ends.
  @discardableResult
  func end(within seconds: Int64 = 60) -> PseudoTerminal.Ending? {
    ending = window.waitForEnd(seconds: seconds)
    return ending
  }

  /// Kills the program, and no other process.
  func kill(sourceLocation: SourceLocation = #_sourceLocation) {
    window.signal(SIGKILL)
    #expect(end() == .signal(SIGKILL), "\(errors)", sourceLocation: sourceLocation)
  }

  /// Checks that the program has printed one sentence as its only error.
  func expectSentence(
    _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let lines = errors.split(separator: "\n")
    #expect(lines.count == 1, "\(errors)", sourceLocation: sourceLocation)
    #expect(lines.first?.hasPrefix("opq-top: ") == true, sourceLocation: sourceLocation)
    for part in parts {
      #expect(errors.contains(part), "\(errors)", sourceLocation: sourceLocation)
    }
  }
}
