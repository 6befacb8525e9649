// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// The file name of a process's socket, such as `4711-1234567.sock`. It consists of the process's
/// id and start time. The start time distinguishes the process from earlier processes with the same
/// id.
package struct MonitorSocketName: Sendable, Equatable {
  /// The id of the process.
  package let processID: Int32
  /// The start time of the process.
  package let start: ProcessStart

  /// Creates the name of a process's socket.
  package init(processID: Int32, start: ProcessStart) {
    self.processID = processID
    self.start = start
  }

  /// Creates a name from a file name; `nil` if the file name is not the name of a process's socket.
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

  /// The name of the socket's file.
  package var fileName: String { "\(processID)-\(start.ticks).sock" }

  /// The name of the socket's file before the process listens.
  package var temporaryFileName: String { "\(processID)-\(start.ticks)\(Self.temporarySuffix)" }

  /// Whether the process exists, as far as this process can determine.
  package var isAlive: Bool { ProcessStart(of: processID) == start }
}
