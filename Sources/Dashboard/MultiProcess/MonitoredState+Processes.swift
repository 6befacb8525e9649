// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The state of several processes that are watched together.

extension MonitoredState {
  /// Returns the process of an operation or a queue; `nil` if only one process is watched.
  func process(of id: some NumberedByProcess) -> ProcessReport? {
    let index = id.processNumber - 1
    return processes.indices.contains(index) ? processes[index] : nil
  }

  /// Returns whether updates no longer arrive from the process of an operation or a queue.
  func isGone(_ id: some NumberedByProcess) -> Bool { process(of: id)?.isGone ?? false }

  /// Returns whether the process of an operation or a queue has ended. The state of an ended process no
  /// longer changes.
  func hasEnded(_ id: some NumberedByProcess) -> Bool { process(of: id)?.ended != nil }

  /// Returns the moment up to which the times of an operation are counted. The moment does not advance while
  /// the operation's process sends no updates.
  func moment(for id: OperationReport.ID, at now: MonitorTime) -> MonitorTime {
    process(of: id)?.standstill ?? now
  }
}

extension ProcessReport {
  /// The name and the id of the process, and its host if it runs on another machine, for use in a sentence.
  var title: String {
    "\(hello.processName.clipped(to: 24))[\(hello.processID)]\(String(onHost: hello.host))"
  }
}

extension String {
  /// Creates the words ` on HOST` that follow the name of a process; empty for this machine.
  ///
  /// - Parameters:
  ///   - host: The host, as in ``MonitorProtocol/Hello/host``.
  ///   - limit: The maximum number of characters of the host.
  init(onHost host: String, limit: Int = 24) {
    self = host.isEmpty ? "" : " on \(host.clipped(to: limit))"
  }
}

extension QueueReport {
  /// The name of the queue. If several processes are watched, the number of its process precedes the name:
  /// `2#io`.
  var label: String { id.processNumber == 0 ? name : "\(id.processNumber)#\(name)" }
}
