// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// A process for which a relay waits until the process listens.
package struct AwaitedTarget: Sendable {
  private let processID: Int32
  private var wasThere = false

  /// Creates the state before the first search for a process. The process need not exist.
  package init(processID: Int32) { self.processID = processID }

  /// Looks for the process's socket.
  ///
  /// - Returns: The target, which has a refusal if the process cannot be watched or has ended; `nil` if the relay must
  ///   look again later.
  package mutating func find() -> RelayTarget? {
    let target = RelayTarget(.process(processID))
    guard target.refusal?.cause == .nothingThere else { return target }
    let isThere = ProcessStart(of: processID) != nil
    defer { wasThere = isThere }
    guard wasThere, !isThere else { return nil }
    return RelayTarget(
      processID: processID,
      AttachError(.lost, "process \(processID) ended before it could be monitored"))
  }
}
