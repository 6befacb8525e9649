// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient

/// The options that select the process to watch.
struct TargetOptions: ParsableArguments {
  @OptionGroup var machine: MachineOptions

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Attach to this process. HOST:PID is a process of another machine.", valueName: "pid"))
  var pid: String?

  @Option(
    help: ArgumentHelp(
      "Attach to this process when it begins to listen. It need not exist yet.",
      valueName: "pid"),
    transform: Self.processID)
  var wait: Int32?

  @Option(
    help: ArgumentHelp(
      "Attach through this socket, for example one that ssh forwards.", valueName: "path"))
  var socket: String?

  @Option(
    help: ArgumentHelp(
      """
      Attach to the process that runs the jobs of this run. "opq-top runs" lists the ids; the first characters of an \
      id, or the path of the directory of the run, are enough.
      """, valueName: "run"))
  var run: String?

  /// The options, for messages.
  static let words = "--pid, --wait, --socket or --run"
  /// These options and the options for the machine, for messages.
  static let allWords = "--pid, --wait, --socket, --run, --host or --via"

  /// Whether the options select a process.
  var isGiven: Bool { pid != nil || wait != nil || socket != nil || run != nil }

  /// Whether the options select a process or another machine.
  var isAnyGiven: Bool { isGiven || machine.isGiven }

  func validate() throws {
    _ = try process()
    if [pid != nil, wait != nil, socket != nil, run != nil].count(where: { $0 }) > 1 {
      throw ValidationError("use only one of --pid, --wait, --socket and --run")
    }
  }

  @Sendable private static func processID(_ text: String) throws -> Int32 {
    guard let process = Int32(text), process > 0 else {
      throw ValidationError("\"\(text)\" is not a process id (a number from 1)")
    }
    return process
  }

  /// Returns the process that `--pid` names; `nil` if the option is not given.
  ///
  /// - Throws: `ValidationError` if the value of the option is not valid.
  private func process() throws -> PlacedTarget? {
    guard let pid else { return nil }
    let target = try PlacedTarget(pid, machine)
    if case .process = target.target { return target }
    throw ValidationError("\"\(pid)\" is not a process id (a number from 1)")
  }
}

extension TargetOptions {
  /// The other machine on which the options select a process; `nil` for this machine.
  ///
  /// - Throws: `ValidationError` if the machine is not valid.
  func place() throws -> RemotePlace? {
    try process()?.place ?? machine.place()
  }

  /// Finds the process that these options select.
  ///
  /// - Parameters:
  ///   - runs: The place of the runs.
  ///   - viewer: The run of the viewer.
  /// - Returns: The process.
  /// - Throws: ``AttachError`` if there is no such process, `RunFailure` or `ValidationError` if the run cannot be
  ///   found, or ``ViewerRun/SignalRequest`` if a signal arrives while the program waits for the process.
  func process(_ runs: RunPlaceOptions?, _ viewer: ViewerRun) throws -> LocatedProcess {
    if let process = try process() { return try viewer.located([process])[0] }
    if let place = try machine.place() {
      guard let arguments = try relayArguments(runs) else {
        return try ViewerRun.only(of: viewer.find(on: place), on: place)
      }
      return try viewer.process(on: place, arguments)
    }
    if let process = wait { return LocatedProcess(path: try viewer.waitForSocket(of: process)) }
    if let path = socket { return LocatedProcess(path: path) }
    if let run { return LocatedProcess(path: try viewer.socket(of: FoundRun(run, in: runs))) }
    return try ViewerRun.only(of: viewer.find(on: nil), on: nil)
  }

  /// The arguments with which `opq-top relay` finds the process on its machine; `nil` if the options select no process.
  private func relayArguments(_ runs: RunPlaceOptions?) throws -> [String]? {
    if let wait { return ["--wait=\(wait)"] }
    if let socket { return [try PlacedTarget(.socket(socket), on: machine).relayArgument] }
    return run.map { Self.relayArguments(ofRun: $0, runs) }
  }

  /// Returns the arguments with which `opq-top relay` finds the process that runs the jobs of a run.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - runs: The place of the runs on the other machine.
  /// - Returns: The arguments.
  static func relayArguments(ofRun run: String, _ runs: RunPlaceOptions?) -> [String] {
    ["--run=\(run)"] + (runs?.state.map { ["--state=\($0)"] } ?? [])
  }
}
