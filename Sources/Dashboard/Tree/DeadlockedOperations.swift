// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that never finish unless the program or the user ends a deadlock, as far as the warnings
/// name them.
struct DeadlockedOperations: Sendable, Equatable {
  /// The operations that warnings about deadlocks name.
  private(set) var ids: Set<OperationReport.ID> = []
  /// The queues whose slots are all held by deadlocked operations. Such a queue starts no operation.
  private(set) var queues: Set<QueueReport.ID> = []

  /// Creates an empty set.
  init() {}

  /// Creates the set of the operations that the warnings name. The operations in `operations` determine the
  /// queues of these operations.
  init(_ warnings: [MonitorWarning], in operations: OperationStore) {
    for warning in warnings where warning.isDeadlock {
      ids.formUnion(warning.operations + warning.awaited)
      guard warning.kind == .slotDeadlock else { continue }
      queues.formUnion(warning.operations.compactMap { operations[$0]?.queue })
      if let queue = warning.queue { queues.insert(queue) }
    }
  }

  /// Returns whether an operation never finishes, or depends directly on an operation that never finishes.
  func holdUp(_ report: OperationReport) -> Bool {
    guard !ids.isEmpty, !report.state.isOver else { return false }
    if ids.contains(report.id) { return true }
    if report.started == nil, queues.contains(report.queue) { return true }
    return report.unmetDependencyCount > 0 && report.dependencies.contains(where: ids.contains)
  }
}
