// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// The operation itself; `nil` where it is over or gone.
  func operation(_ id: OperationReport.ID) -> Operation? {
    guard let entry = entries[id], let record = entry.record else { return nil }
    return QueueRegistry.queue(entry.report.queue)?.operation(of: record)
  }

  /// What is told of one operation alone; `nil` where it is over or gone.
  func detail(of id: OperationReport.ID) -> OperationDetail? {
    operation(id).map { OperationDetail($0, id: id) }
  }
}

extension QueueRegistry {
  /// A live queue; `nil` where it is gone.
  static func queue(_ id: QueueReport.ID) -> OperationQueue? {
    queues.first { $0.id.rawValue == id.rawValue }
  }
}
