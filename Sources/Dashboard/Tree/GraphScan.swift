// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Facts about a dependency graph from one or several operations on, whether it is drawn or not.
struct GraphScan: Sendable, Equatable {
  /// The numbers of operations at each longest distance from the roots, which are at 0. Operations in cycles
  /// are in no level.
  private(set) var levels: [StateCounts] = []
  /// Whether the graph has more operations than were examined.
  private(set) var isCut = false
  /// The longest chain of unfinished operations from a root on, including the root. It determines when the
  /// root can finish, or which operation is the last to finish because of the root. It is empty if it has at
  /// most two operations, because such a chain contains no information.
  private(set) var criticalPath: [OperationReport.ID] = []
  /// The probable time of that chain, one operation after the other; `nil` if it is unknown. The chain is
  /// then the one with the most operations.
  private(set) var remainingTime: Duration?

  /// The sum of all levels without the roots.
  var counts: StateCounts { levels.dropFirst().reduce(StateCounts(), +) }

  /// Examines at most this number of operations, the nearest to the roots.
  init(
    from roots: [OperationReport.ID], _ direction: GraphDirection, in operations: OperationStore,
    estimates: RunTimeEstimates = RunTimeEstimates(), limit: Int
  ) {
    let walk = Walk(roots: roots, operations: operations, direction: direction, limit: limit)
    isCut = walk.isCut
    let sorted = TopologicalOrder.sorted(from: roots, walk.edges)
    levels = walk.levels(of: sorted)
    let path = walk.longestPath(through: sorted, estimates)
    guard path.operations.count > 2 else { return }
    criticalPath = path.operations
    remainingTime = path.time
  }
}

/// The graph during its examination.
private struct Walk {
  typealias ID = OperationReport.ID

  let roots: [ID]
  let operations: OperationStore
  /// The targets of each examined operation's edges.
  let edges: [ID: [ID]]
  let isCut: Bool

  init(roots: [ID], operations: OperationStore, direction: GraphDirection, limit: Int) {
    self.roots = roots
    self.operations = operations
    let reports = operations.neighbourhood(of: roots, direction, limit: limit)
    let onlyRoot = roots.count == 1 ? roots.first : nil
    edges = Dictionary(
      uniqueKeysWithValues: reports.map { report in
        // The dependencies of a finished operation have no effect on the future.
        let isEnd = direction == .waitsFor && report.state.isOver && report.id != onlyRoot
        let targets = isEnd ? [] : operations.neighbours(of: report, direction)
        return (report.id, targets.filter { operations[$0] != nil })
      })
    isCut = edges.values.contains { [edges] in $0.contains { edges[$0] == nil } }
  }

  func levels(of sorted: [ID]) -> [StateCounts] {
    var distances: [ID: Int] = [:]
    var levels: [StateCounts] = []
    for id in sorted {
      let distance = distances[id, default: 0]
      while levels.count <= distance { levels.append(StateCounts()) }
      if let state = operations[id]?.state { levels[distance].add(state) }
      for neighbour in edges[id] ?? [] {
        distances[neighbour] = max(distances[neighbour, default: 0], distance + 1)
      }
    }
    return levels
  }

  func longestPath(
    through sorted: [ID], _ estimates: RunTimeEstimates
  ) -> (operations: [ID], time: Duration?) {
    let unfinished = sorted.filter { operations[$0]?.state.isOver == false }
    var times: [ID: Duration] = [:]
    for id in unfinished {
      if let report = operations[id] { times[id] = estimates.remainingTime(of: report) }
    }
    // If a time is unknown, paths are compared by their numbers of operations only.
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
  /// Adds one operation of this state.
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
      // The bar has one colour for all cancelling operations, started or not.
      executing += 1
      cancelling += 1
    case .finished: finished += 1
    case .cancelled: cancelled += 1
    }
  }
}
