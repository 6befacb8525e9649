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

/// Two machines for a test: this one, and the host `login`. The host is the same machine, with a real sshd. `second` is
/// another name of the host.
///
/// The machines have different directories for sockets, so that each sees only its own processes.
final class MachineScene {
  /// The program `opq-top` of the host.
  enum FarProgram {
    /// The built program.
    case built
    /// A shell text. `$PROGRAM` is the built program, and `$SCENE` the folder for files of the test.
    case script(String)
    /// The host has no such program.
    case missing
  }

  /// The folder for files of the test, and for the sockets of this machine.
  let directory: TemporaryDirectory
  /// The folder for the sockets of the host.
  let far: TemporaryDirectory
  private let server: SSHServer
  private var programCount = 0

  /// Starts the host.
  ///
  /// - Parameters:
  ///   - program: The program `opq-top` of the host.
  ///   - far: The folder for the sockets of the host; by default a new one.
  /// - Throws: The error of a system call, or of the server.
  init(_ program: FarProgram = .built, far: TemporaryDirectory? = nil) throws {
    directory = try TemporaryDirectory()
    self.far = try far ?? TemporaryDirectory()
    server = try SSHServer(["PATH=\(directory.file("far")):/usr/bin:/bin"])
    try writeSSH(options: "")
    let prefix = """
      echo $$ >>'\(directory.file("relays"))'
      export '\(MonitoredProcess.variable(self.far))' PROGRAM='\(BuiltProgram.path)'
      export SCENE='\(directory.path)'
      """
    switch program {
    case .built: try write("\(prefix)\nexec \"$PROGRAM\" \"$@\"", to: "far/opq-top")
    case .script(let text): try write("\(prefix)\n\(text)", to: "far/opq-top")
    case .missing: break
    }
  }

  deinit {
    // A relay that the test has stopped does not notice the end of its input.
    for relay in relays where isRelay(relay) { kill(relay, SIGKILL) }
  }

  /// Whether a process is a relay of this scene. Its id could have been given to another process.
  private func isRelay(_ process: Int32) -> Bool {
    let environment = try? Data(contentsOf: URL(filePath: "/proc/\(process)/environ"))
    return environment?.range(of: Data("\(MonitoredProcess.variable(far))\0".utf8)) != nil
  }

  /// The sockets that ssh opens for the host `configured`, if its arguments do not prevent this.
  var configuredSockets: [String] { server.configuredSockets }

  /// Makes the server refuse all later logins.
  func refuseLogins() throws { try writeSSH(options: "-o PubkeyAuthentication=no ") }

  private func writeSSH(options: String) throws {
    let log = directory.file("logins")
    try write(#"echo $$ >>'\#(log)'; exec "$SSH" \#(options)"$@""#, to: "bin/ssh")
  }

  /// Writes a program of the scene.
  private func write(_ text: String, to name: String) throws {
    let path = directory.file(name)
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path,
      withIntermediateDirectories: true)
    TestProgram.write("SSH='\(server.programs)/ssh'\n\(text)", to: path)
  }

  // MARK: Processes

  /// Starts a process on the host.
  func process() throws -> MonitoredProcess { try MonitoredProcess(in: far) }

  /// Starts a process on this machine.
  func localProcess() throws -> MonitoredProcess { try MonitoredProcess(in: directory) }

  /// The commands `ssh` that `opq-top` has started, the oldest one first.
  var logins: [Int32] { processes("logins") }

  /// The relays that were started, the oldest one first.
  var relays: [Int32] { processes("relays") }

  private func processes(_ name: String) -> [Int32] {
    let text = (try? String(contentsOfFile: directory.file(name), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { Int32($0) }
  }

  /// Returns whether a process is alive. A process that has ended and was not reaped is not alive.
  func isAlive(_ process: Int32) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let state = status?.split(separator: ")").last?.drop { $0 == " " }.first
    return state.map { $0 != "Z" && $0 != "X" } ?? false
  }

  // MARK: Programs

  /// The text for `--via` that executes commands on the host without ssh.
  var via: String { "env PATH='\(directory.file("far"))':/usr/bin:/bin" }

  private var environment: [String] {
    ["PATH=\(directory.file("bin")):/usr/bin:/bin", MonitoredProcess.variable(directory)]
  }

  /// Starts `opq-top` on this machine, without a terminal for its output.
  func start(_ arguments: [String]) throws -> StartedProgram {
    programCount += 1
    let output = directory.file("output-\(programCount)")
    let errors = directory.file("errors-\(programCount)")
    let window = try PseudoTerminal(columns: 120, rows: 30)
    try window.start(
      BuiltProgram.path, arguments, environment: environment,
      redirections: [0: "/dev/null", 1: output, 2: errors])
    return StartedProgram(window: window, outputPath: output, errorPath: errors)
  }

  /// Runs `opq-top` on this machine to its end.
  @discardableResult
  func run(_ arguments: [String]) throws -> StartedProgram {
    let program = try start(arguments)
    program.end()
    return program
  }

  /// Shows the dashboard on a terminal, and waits until it contains a text.
  func show(
    _ arguments: [String], until text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: 120, rows: 40)
    try window.start(BuiltProgram.path, arguments, environment: environment)
    #expect(
      window.wait { $0.isAlternate && $0.contains(text) }, "\(window.screen)",
      sourceLocation: sourceLocation)
    return window
  }

  /// Closes the dashboard.
  func close(_ window: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) {
    window.type("q")
    #expect(
      window.waitForEnd() == .status(0), "\(window.screen)", sourceLocation: sourceLocation)
  }

  /// Waits until a condition is true that depends on other processes.
  func wait(until isSo: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isSo() {
      if ContinuousClock.now > deadline { return isSo() }
      usleep(10_000)
    }
    return true
  }
}
