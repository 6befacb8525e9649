// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Several processes that are watched together.

extension MonitoredState {
  /// Returns the process of an operation or a queue; `nil` if only one process is watched.
  func process(of id: some NumberedByProcess) -> ProcessReport? {
    let index = id.processNumber - 1
    return processes.indices.contains(index) ? processes[index] : nil
  }

  /// Returns whether the process of an operation or a queue sends no updates.
  func isGone(_ id: some NumberedByProcess) -> Bool { process(of: id)?.isGone ?? false }

  /// Returns whether the process of an operation or a queue has ended: its state no longer changes.
  func hasEnded(_ id: some NumberedByProcess) -> Bool { process(of: id)?.ended != nil }

  /// Returns the moment for the times of an operation: they stand still if its process sends no updates.
  func moment(for id: OperationReport.ID, at now: MonitorTime) -> MonitorTime {
    process(of: id)?.standstill ?? now
  }
}

extension ProcessReport {
  /// The name of the process in a sentence.
  var title: String { "\(hello.processName.clipped(to: 24))[\(hello.processID)]" }
}

extension QueueReport {
  /// The name of the queue beside queues of other processes: `2#io`.
  var label: String { id.processNumber == 0 ? name : "\(id.processNumber)#\(name)" }
}
