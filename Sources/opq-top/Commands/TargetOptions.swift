// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// Which process is watched.
struct TargetOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: ArgumentHelp("Attach to this process.", valueName: "pid"),
    transform: Self.processID)
  var pid: Int32?

  @Option(
    help: ArgumentHelp(
      "Attach to this process as soon as it listens; it need not be there yet.",
      valueName: "pid"),
    transform: Self.processID)
  var wait: Int32?

  @Option(
    help: ArgumentHelp(
      "Attach to what listens at this socket, such as one that ssh forwards.", valueName: "path"))
  var socket: String?

  /// Whether a process is asked for.
  var isGiven: Bool { pid != nil || wait != nil || socket != nil }

  func validate() throws {
    if [pid != nil, wait != nil, socket != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--pid, --wait and --socket exclude each other")
    }
  }

  @Sendable private static func processID(_ text: String) throws -> Int32 {
    guard let process = Int32(text), process > 0 else {
      throw ValidationError("there is no process \"\(text)\": its id is a number from 1 on")
    }
    return process
  }
}
