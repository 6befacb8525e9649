// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The roots of a tree: one operation, or all operations on which no other depends.
struct TreeRoots: Sendable, Equatable {
  /// Roots of one queue.
  struct Group: Sendable, Equatable {
    let queue: QueueReport.ID
    /// The ids, unfinished operations first.
    let ids: [OperationReport.ID]
    let unfinishedCount: Int
  }

  /// If there are more roots than this, they are grouped below their queues.
  static let groupLimit = 50

  /// All roots, the unfinished ones first, each part by age.
  let ids: [OperationReport.ID]
  /// The roots by queue, if there are many; otherwise empty.
  let groups: [Group]

  /// Creates a single root.
  init(_ root: OperationReport.ID) {
    ids = [root]
    groups = []
  }

  /// Creates the roots of all operations on which no other depends.
  init(of operations: OperationStore) {
    let reports = operations.all.filter { $0.dependentCount == 0 }.sorted { left, right in
      left.state.isOver == right.state.isOver ? left.id < right.id : right.state.isOver
    }
    ids = reports.map(\.id)
    guard reports.count > Self.groupLimit else {
      groups = []
      return
    }
    groups = Dictionary(grouping: reports, by: \.queue).sorted { $0.key < $1.key }.map {
      Group(
        queue: $0.key, ids: $0.value.map(\.id),
        unfinishedCount: $0.value.count { !$0.state.isOver })
    }
  }

  /// Returns the roots that have a row of their own.
  func drawn(_ folding: DependencyTree.Folding) -> [OperationReport.ID] {
    guard !groups.isEmpty else { return ids }
    return groups.filter { folding.unfoldedQueues.contains($0.queue) }.flatMap(\.ids)
  }
}
