// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Facts about the part of a dependency graph that can be reached from one or several roots. They include
/// operations that are not drawn.
struct GraphScan: Sendable, Equatable {
  /// The numbers of operations in each state, for each distance from the roots. The distance of an operation
  /// is the length of the longest path from a root to the operation. The roots are at distance 0. Operations
  /// in cycles are not counted.
  private(set) var levels: [StateCounts] = []
  /// Whether the graph has more operations than were examined.
  private(set) var isCut = false
  /// The longest chain of unfinished operations from a root, including the root. In a tree of dependencies,
  /// the chain determines when the root can finish. In a tree of dependents, it determines when the last
  /// dependent can finish. The chain is empty if it would have at most two operations, because such a chain
  /// contains no information. The chain is also empty if it would never end, because an operation of the graph
  /// waits for a deadlock.
  private(set) var criticalPath: [OperationReport.ID] = []
  /// The probable time that the operations of the critical path take one after the other; `nil` if the time
  /// is unknown. Without times, the critical path is the chain with the most operations.
  private(set) var remainingTime: Duration?

  /// The numbers of operations in each state, without the roots.
  var counts: StateCounts { levels.dropFirst().reduce(StateCounts(), +) }

  /// Whether the critical path is unknown, because the graph has too many dependencies to find all deadlocks.
  private(set) var isPathUnknown = false
  /// The number of dependencies and dependents that were examined. Tests check that the number is limited.
  private(set) var stepCount = 0

  /// The maximum number of dependencies that are examined to find deadlocks, for each operation of the graph.
  static let deadlockStepLimit = 50

  /// Examines the operations that are nearest to the roots, at most `limit` of them.
  init(
    from roots: [OperationReport.ID], _ direction: GraphDirection, in operations: OperationStore,
    estimates: RunTimeEstimates = RunTimeEstimates(), limit: Int
  ) {
    let walk = Walk(roots: roots, operations: operations, direction: direction, limit: limit)
    isCut = walk.isCut
    let sorted = TopologicalOrder.sorted(from: roots, walk.edges)
    levels = walk.levels(of: sorted)
    let search = walk.findDeadlock(estimates.deadlocked, stepLimit: limit * Self.deadlockStepLimit)
    stepCount = walk.edges.values.reduce(search.stepCount) { $0 + $1.count }
    isPathUnknown = search.waits == nil
    guard search.waits == false else { return }
    let path = walk.longestPath(through: sorted, estimates)
    guard path.operations.count > 2 else { return }
    criticalPath = path.operations
    remainingTime = path.time
  }
}

/// The part of a dependency graph that a scan examines.
private struct Walk {
  typealias ID = OperationReport.ID

  let roots: [ID]
  let operations: OperationStore
  /// The examined operations, the nearest first.
  let examined: [ID]
  /// The outgoing edges of each examined operation.
  let edges: [ID: [ID]]
  let isCut: Bool

  init(roots: [ID], operations: OperationStore, direction: GraphDirection, limit: Int) {
    self.roots = roots
    self.operations = operations
    let reports = operations.neighbourhood(of: roots, direction, limit: limit)
    examined = reports.map(\.id)
    let onlyRoot = roots.count == 1 ? roots.first : nil
    edges = Dictionary(
      uniqueKeysWithValues: reports.map { report in
        // The dependencies of a finished operation no longer delay any operation, so they are not examined.
        let isEnd = direction == .waitsFor && report.state.isOver && report.id != onlyRoot
        let targets =
          isEnd
          ? [] : operations.neighbours(of: report, direction, limit: TreeState.rowLimit)
        return (report.id, targets.filter { operations.contains($0) })
      })
    isCut = edges.values.contains { [edges] in $0.contains { edges[$0] == nil } }
  }

  /// Returns whether an unfinished operation of the graph is in a deadlock, or waits for a deadlock directly
  /// or through other operations; `nil` if the search was cut. Also returns the number of examined dependencies.
  /// A deadlock is one that a warning names, or a cycle of dependencies.
  func findDeadlock(
    _ deadlocked: DeadlockedOperations, stepLimit: Int
  ) -> (waits: Bool?, stepCount: Int) {
    var found = examined.filter(isUnfinished)
    var seen = Set(found)
    var waits: [ID: [ID]] = [:]
    var (next, stepCount) = (0, 0)
    while next < found.count {
      let id = found[next]
      next += 1
      guard let report = operations[id] else { continue }
      stepCount += report.dependencies.count
      guard stepCount <= stepLimit else { return (nil, stepLimit) }
      if deadlocked.holdUp(report) { return (true, stepCount) }
      let awaited = report.dependencies.filter(isUnfinished)
      found += awaited.filter { seen.insert($0).inserted }
      // Only operations in the state waiting wait for their dependencies. A cancelled operation does not.
      if report.state == .waiting { waits[id] = awaited }
    }
    let targets = Set(waits.values.joined())
    let starts = waits.keys.filter { !targets.contains($0) }
    return (TopologicalOrder.sorted(from: starts, waits).count < waits.count, stepCount)
  }

  private func isUnfinished(_ id: ID) -> Bool { operations.state(of: id)?.isOver == false }

  func levels(of sorted: [ID]) -> [StateCounts] {
    var distances: [ID: Int] = [:]
    var levels: [StateCounts] = []
    for id in sorted {
      let distance = distances[id, default: 0]
      while levels.count <= distance { levels.append(StateCounts()) }
      if let state = operations.state(of: id) { levels[distance].add(state) }
      for neighbour in edges[id] ?? [] {
        distances[neighbour] = max(distances[neighbour, default: 0], distance + 1)
      }
    }
    return levels
  }

  func longestPath(
    through sorted: [ID], _ estimates: RunTimeEstimates
  ) -> (operations: [ID], time: Duration?) {
    let unfinished = sorted.filter { operations.state(of: $0)?.isOver == false }
    var times: [ID: Duration] = [:]
    for id in unfinished {
      if let report = operations[id] { times[id] = estimates.remainingTime(of: report) }
    }
    // If the time of an operation is unknown, paths are compared only by their numbers of operations.
    let isTimed = times.count == unfinished.count
    typealias Length = (time: Duration, count: Int)
    var lengths: [ID: Length] = [:]
    var next: [ID: ID] = [:]
    for id in unfinished.reversed() {
      var best: Length = (.zero, 0)
      for neighbour in edges[id] ?? [] {
        guard let length = lengths[neighbour], length > best else { continue }
        best = length
        next[id] = neighbour
      }
      lengths[id] = (best.time + (isTimed ? times[id] ?? .zero : .zero), best.count + 1)
    }
    let start = roots.max { lengths[$0, default: (.zero, 0)] < lengths[$1, default: (.zero, 0)] }
    guard let start, let length = lengths[start] else { return ([], nil) }
    return (Array(sequence(first: start) { next[$0] }), isTimed ? length.time : nil)
  }
}

extension StateCounts {
  /// Adds one operation in this state to the counts.
  fileprivate mutating func add(_ state: OperationState) {
    total += 1
    switch state {
    case .waiting: waiting += 1
    case .ready: ready += 1
    case .held:
      ready += 1
      held += 1
    case .executing: executing += 1
    case .cancelling:
      // A cancelling operation counts as executing, even if it has not started, because the bar draws
      // cancelling and executing operations in the same colour.
      executing += 1
      cancelling += 1
    case .finished: finished += 1
    case .failed:
      finished += 1
      failed += 1
    case .cancelled: cancelled += 1
    }
  }
}
