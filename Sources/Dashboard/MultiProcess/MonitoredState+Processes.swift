// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Where several processes are watched as one.

extension MonitoredState {
  /// The process that an operation or a queue is of; `nil` where one process is watched.
  func process(of id: some NumberedByProcess) -> ProcessReport? {
    let index = id.processNumber - 1
    return processes.indices.contains(index) ? processes[index] : nil
  }

  /// Whether nothing comes from the process that an operation or a queue is of.
  func isGone(_ id: some NumberedByProcess) -> Bool { process(of: id)?.isGone ?? false }

  /// Whether the process that an operation or a queue is of has ended: nothing more becomes of it.
  func hasEnded(_ id: some NumberedByProcess) -> Bool { process(of: id)?.ended != nil }

  /// The moment for which the times of an operation are shown: they stand still where nothing comes from
  /// its process.
  func moment(for id: OperationReport.ID, at now: MonitorTime) -> MonitorTime {
    process(of: id)?.standstill ?? now
  }
}

extension ProcessReport {
  /// What it is called in a sentence.
  var title: String { "\(hello.processName.clipped(to: 24))[\(hello.processID)]" }
}

extension QueueReport {
  /// What it is called where queues of several processes stand beside each other: `2#io`.
  var label: String { id.processNumber == 0 ? name : "\(id.processNumber)#\(name)" }
}
