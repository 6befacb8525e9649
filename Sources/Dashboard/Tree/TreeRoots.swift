// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The roots of a tree: one operation, or all operations that are not dependencies of another operation.
struct TreeRoots: Sendable, Equatable {
  /// The roots that belong to one queue.
  struct QueueGroup: Sendable, Equatable {
    let queue: QueueReport.ID
    /// The ids of the roots, unfinished operations first.
    let ids: [OperationReport.ID]
    let unfinishedCount: Int
  }

  /// The maximum number of roots that are shown without groups. If there are more, the roots are grouped by
  /// queue.
  static let groupLimit = 50

  /// The ids of all roots. Unfinished operations, sorted by age, come before finished operations, also sorted
  /// by age.
  let ids: [OperationReport.ID]
  /// The groups of roots by queue; empty if there are few roots.
  let groups: [QueueGroup]

  /// Creates the roots of a tree with a single root.
  init(_ root: OperationReport.ID) {
    ids = [root]
    groups = []
  }

  /// Creates the roots of the tree of all operations: the operations that are not dependencies of another
  /// operation.
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
      QueueGroup(
        queue: $0.key, ids: $0.value.map(\.id),
        unfinishedCount: $0.value.count { !$0.state.isOver })
    }
  }

  /// Returns the roots of the tree that have their own rows.
  func drawn(_ folding: DependencyTree.Folding) -> [OperationReport.ID] {
    guard !groups.isEmpty else { return ids }
    return groups.filter { folding.unfoldedQueues.contains($0.queue) }.flatMap(\.ids)
  }
}
