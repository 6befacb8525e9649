// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A shim that is alive, and that another process has started.
package struct AdoptedShim: Hashable, Sendable {
  /// The id of the shim's process.
  package let processID: Int32
  /// The time at which the process has started, in the unit and from the moment of the file `/proc/PID/stat`.
  package let startTime: UInt64

  /// Creates the description of a shim. Nothing is checked.
  package init(processID: Int32, startTime: UInt64) {
    self.processID = processID
    self.startTime = startTime
  }
}

/// What has become of a shim.
package enum ShimFinding: Hashable, Sendable {
  /// The shim is alive: the command runs, or its exit status will be known in a moment.
  case alive(AdoptedShim)
  /// The command has ended, and its exit status is known: a number from 0 to 255.
  case ended(status: Int32)
  /// The shim is not alive, and has left no exit status. The command may never have started.
  case lost
  /// It is not known whether the shim is alive. The value says why, as one sentence.
  case unknown(String)
}

extension ShimFiles {
  /// Finds out what has become of the shim.
  ///
  /// - Parameters:
  ///   - bootIDAgrees: Whether the system has not started again since the shim was started.
  ///   - patience: The time for which a shim that is alive and has not written its identity is awaited.
  /// - Returns: What was found.
  package func find(bootIDAgrees: Bool, patience: Duration) async -> ShimFinding { .lost }
}
