// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Where a tree begins: with one operation, or with all that no other depends on.
struct TreeRoots: Sendable, Equatable {
  /// Roots of one queue.
  struct Group: Sendable, Equatable {
    let queue: QueueReport.ID
    /// The unfinished ones first.
    let ids: [OperationReport.ID]
    let unfinishedCount: Int
  }

  /// More roots than these stand below the queues that they are in.
  static let groupLimit = 50

  /// All of them; the unfinished ones first, each sort by age.
  let ids: [OperationReport.ID]
  /// The same by queue, where they are many; else empty.
  let groups: [Group]

  /// One root.
  init(_ root: OperationReport.ID) {
    ids = [root]
    groups = []
  }

  /// All operations that no other depends on.
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

  /// Those that have a row of their own.
  func drawn(_ folding: DependencyTree.Folding) -> [OperationReport.ID] {
    guard !groups.isEmpty else { return ids }
    return groups.filter { folding.unfoldedQueues.contains($0.queue) }.flatMap(\.ids)
  }
}
