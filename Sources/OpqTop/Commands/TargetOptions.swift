// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient

/// The options that select the process to watch.
struct TargetOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: ArgumentHelp("Attach to this process.", valueName: "pid"),
    transform: Self.processID)
  var pid: Int32?

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

  /// Whether the options select a process.
  var isGiven: Bool { pid != nil || wait != nil || socket != nil || run != nil }

  func validate() throws {
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
}

extension TargetOptions {
  /// Returns the path of the selected process's socket. These options or an argument select the
  /// process.
  ///
  /// - Parameters:
  ///   - target: The process that an argument names; `nil` if these options select the process.
  ///   - place: The place of the runs.
  ///   - viewer: The run of the viewer.
  /// - Returns: The path.
  /// - Throws: ``AttachError`` if there is no such process, `RunFailure` or `ValidationError` if the run cannot be
  ///   found, or ``ViewerRun/SignalRequest`` if a signal arrives while the program waits for the process.
  func path(_ target: AttachTarget?, _ place: RunPlaceOptions?, _ viewer: ViewerRun) throws
    -> String
  {
    if let process = wait { return try viewer.waitForSocket(of: process) }
    if let path = socket { return path }
    if let run { return try viewer.socket(of: FoundRun(run, in: place)) }
    guard let target = target ?? pid.map({ .process($0) }) else {
      throw AttachError(.nothingThere, ProcessTable.emptyMessage)
    }
    return try target.path()
  }

  /// Returns the path of the socket of the only process that listens.
  ///
  /// - Parameter found: The processes that listen.
  /// - Returns: The path.
  /// - Throws: ``AttachError`` if no process listens, or `ValidationError` if several do.
  static func onlyPath(of found: [ProcessFinder.Found] = ProcessFinder.find()) throws -> String {
    guard let only = found.first else {
      throw AttachError(.nothingThere, ProcessTable.emptyMessage)
    }
    guard found.count == 1 else { throw ValidationError(choiceMessage(found)) }
    return only.path
  }

  /// Returns the message for the case that several processes listen and none is selected.
  static func choiceMessage(_ found: [ProcessFinder.Found]) -> String {
    let ids = found.map { "\($0.processID)" }.joined(separator: ", ")
    return "several processes are monitored; choose one with -p: \(ids)"
  }
}
