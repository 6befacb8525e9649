// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The roots of a tree: one operation, or all unfinished operations that no other unfinished operation depends
/// on.
struct TreeRoots: Sendable, Equatable {
  /// The roots that belong to one queue.
  struct QueueGroup: Sendable, Equatable {
    let queue: QueueReport.ID
    /// The ids of the roots, the oldest first.
    let ids: [OperationReport.ID]
  }

  /// The maximum number of roots that are shown without groups. If there are more, the roots are grouped by
  /// queue.
  static let groupLimit = 50

  /// The ids of all roots, the oldest first.
  let ids: [OperationReport.ID]
  /// The groups of roots by queue; empty if there are few roots.
  let groups: [QueueGroup]
  /// The number of dependencies and dependents that were followed to find the roots. Tests check that the number
  /// is limited.
  let stepCount: Int

  /// Creates the roots of a tree with a single root.
  init(_ root: OperationReport.ID) {
    ids = [root]
    groups = []
    stepCount = 0
  }

  /// Creates the roots of the tree of all unfinished operations.
  ///
  /// If dependencies form a cycle that no other operation depends on, one operation of the cycle is a root.
  /// Operations of the focus are roots too if no path to another root is known.
  init(of operations: OperationStore, focus: TreeFocus) {
    var search = RootSearch(operations)
    search.findRoots(for: focus)
    stepCount = search.stepCount
    ids = search.roots.filter(focus.contains).sorted()
    guard ids.count > Self.groupLimit else {
      groups = []
      return
    }
    groups = Dictionary(grouping: ids) { operations[$0]?.queue ?? QueueReport.ID(0) }
      .sorted { $0.key < $1.key }.map { QueueGroup(queue: $0.key, ids: $0.value) }
  }

  /// Returns the roots of the tree that have their own rows.
  func drawn(_ folding: DependencyTree.Folding) -> [OperationReport.ID] {
    guard !groups.isEmpty else { return ids }
    return groups.filter { folding.unfoldedQueues.contains($0.queue) }.flatMap(\.ids)
  }
}

/// The search for the roots of the tree of all unfinished operations.
struct RootSearch {
  /// The operation at which a walk to dependents ends.
  private struct End {
    let id: OperationReport.ID
    /// Whether the operation is in a cycle. Otherwise, its dependents are not known.
    let isInCycle: Bool
  }

  /// The roots that the search has found.
  private(set) var roots: [OperationReport.ID] = []
  /// The number of operations that walks to dependents have come to. Tests check that the number is low.
  private(set) var walkedCount = 0
  /// The number of dependencies and dependents that were followed.
  private(set) var stepCount = 0

  private let operations: OperationStore
  /// The unfinished operations and the numbers of their dependents, in the order of their ids.
  private let unfinished: [(id: OperationReport.ID, dependentCount: Int)]
  private var reached: Set<OperationReport.ID> = []
  /// The ends of the walks, for all operations of the walks.
  private var ends: [OperationReport.ID: End] = [:]

  /// Creates a search that has found no root.
  init(_ operations: OperationStore) {
    self.operations = operations
    unfinished = operations.all.lazy.filter { !$0.state.isOver }
      .map { ($0.id, $0.dependentCount) }.sorted { $0.id < $1.id }
  }

  /// Finds all roots.
  mutating func findRoots(for focus: TreeFocus) {
    for (id, count) in unfinished where isRoot(id, dependentCount: count) { add(id) }
    for (id, _) in unfinished where !reached.contains(id) {
      if let top = top(of: id, mustBeKnown: !focus.needsRoot(id)) { add(top) }
    }
    if let id = focus.selected, operations.contains(id), !reached.contains(id) { add(id) }
  }

  /// Returns whether all dependents of an operation are known and have finished.
  private mutating func isRoot(_ id: OperationReport.ID, dependentCount: Int) -> Bool {
    let dependents = operations.dependents(of: id)
    stepCount += dependents.count
    return dependents.count >= dependentCount
      && dependents.allSatisfy { operations.state(of: $0)?.isOver == true }
  }

  /// Returns the operation at which a walk from an operation to its dependents ends. Either the walk has come
  /// to an operation of a cycle for the second time, or the next dependents are not known. In the second
  /// case, returns `nil` if the dependents must be known.
  ///
  /// The walk also ends at an operation of an earlier walk, and has the same end as that walk.
  private mutating func top(of id: OperationReport.ID, mustBeKnown: Bool) -> OperationReport.ID? {
    var walked: Set<OperationReport.ID> = []
    var top = id
    var end = ends[id]
    while end == nil {
      guard walked.insert(top).inserted else {
        end = End(id: top, isInCycle: true)
        break
      }
      walkedCount += 1
      let dependents = operations.dependents(of: top)
      stepCount += dependents.count
      if let next = dependents.first(where: isUnfinished) {
        top = next
        end = ends[next]
      } else {
        end = End(id: top, isInCycle: false)
      }
    }
    for id in walked { ends[id] = end }
    return end.flatMap { mustBeKnown && !$0.isInCycle ? nil : $0.id }
  }

  private func isUnfinished(_ id: OperationReport.ID) -> Bool {
    operations.state(of: id)?.isOver == false
  }

  /// Adds a root, and marks the root and all its dependencies as reached.
  private mutating func add(_ root: OperationReport.ID) {
    roots.append(root)
    var pending = [root]
    while let id = pending.popLast() {
      guard reached.insert(id).inserted, let report = operations[id], !report.state.isOver else {
        continue
      }
      stepCount += report.dependencies.count
      pending += report.dependencies.filter { operations.contains($0) }
    }
  }
}
