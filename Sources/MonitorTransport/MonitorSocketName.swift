// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
package import MonitorProtocol

/// What the socket of a process is called: `4711-1234567.sock`, its id and its start. With the start an
/// id that is given again is told from the process that had it before.
package struct MonitorSocketName: Sendable, Equatable {
  /// The process's id.
  package let processID: Int32
  /// When it started.
  package let start: ProcessStart

  /// Names the socket of a process.
  package init(processID: Int32, start: ProcessStart) {
    self.processID = processID
    self.start = start
  }

  /// Reads the name of a file; `nil` where it is none of these.
  package init?(fileName: String) {
    for suffix in [".sock", Self.temporarySuffix] where fileName.hasSuffix(suffix) {
      let parts = fileName.dropLast(suffix.count).split(
        separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, let process = Int32(parts[0]), process > 0,
        let ticks = UInt64(parts[1])
      else { return nil }
      self.init(processID: process, start: ProcessStart(ticks: ticks))
      return
    }
    return nil
  }

  private static let temporarySuffix = ".new"

  /// The name of the file.
  package var fileName: String { "\(processID)-\(start.ticks).sock" }

  /// The name that it has before it listens.
  package var temporaryFileName: String { "\(processID)-\(start.ticks)\(Self.temporarySuffix)" }

  /// Whether the process is there, as far as is visible here.
  package var isAlive: Bool { ProcessStart(of: processID) == start }
}
