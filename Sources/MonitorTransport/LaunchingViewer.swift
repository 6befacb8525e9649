// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import MonitorProtocol

/// The viewer that has started a command. An environment variable with the viewer's process id and start time
/// identifies the processes of the command.
///
/// The start time distinguishes the viewer from a later process with the same id.
package struct LaunchingViewer: Sendable, Equatable {
  /// The name of the environment variable.
  package static let variable = "OPQ_VIEWER"

  /// The process id of the viewer.
  package let processID: Int32
  /// The start time of the viewer.
  package let start: ProcessStart

  /// Creates the description of a viewer.
  package init(processID: Int32, start: ProcessStart) {
    self.processID = processID
    self.start = start
  }

  /// Creates a description from the value of the environment variable, such as `4711-1234567`; `nil` if the value
  /// is not valid.
  package init?(value: String) {
    let parts = value.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let process = Int32(parts[0]), process > 0, let ticks = UInt64(parts[1])
    else { return nil }
    self.init(processID: process, start: ProcessStart(ticks: ticks))
  }

  /// This process as a viewer; `nil` if the system does not report its start time.
  package static var current: LaunchingViewer? {
    ProcessStart(of: csystem_process_id()).map {
      LaunchingViewer(processID: csystem_process_id(), start: $0)
    }
  }

  /// The viewer that has started this process; `nil` if no viewer has started it.
  package static var ofEnvironment: LaunchingViewer? {
    guard let value = csystem_secure_environment(variable) else { return nil }
    return LaunchingViewer(value: String(cString: value))
  }

  /// The entry of the environment, such as `OPQ_VIEWER=4711-1234567`.
  package var entry: String { "\(Self.variable)=\(processID)-\(start.ticks)" }

  /// Whether the viewer exists, as far as this process can determine.
  package var isAlive: Bool { ProcessStart(of: processID) == start }

  /// Returns whether this viewer has started a process, directly or indirectly. The result is `false` if this
  /// process may not read the environment of the other process.
  package func hasStarted(_ process: Int32) -> Bool {
    ProcessEnvironment.entries(of: process)?.contains(Array(entry.utf8)) ?? false
  }
}
