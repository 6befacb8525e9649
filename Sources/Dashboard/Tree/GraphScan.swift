// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What a dependency graph holds from one operation on, or from several, whether it is drawn or not.
struct GraphScan: Sendable, Equatable {
  /// How many operations there are at each longest distance from the roots, which are at 0. What is in
  /// circles has none.
  private(set) var levels: [StateCounts] = []
  /// Whether more operations were found than looked at.
  private(set) var isCut = false
  /// The longest chain of unfinished operations from a root on, the root included: what decides when the
  /// root can be done, or what is done last because of it. Empty where it is no longer than two,
  /// which says nothing.
  private(set) var criticalPath: [OperationReport.ID] = []
  /// How long that chain will probably take, one operation after the other; `nil` where that cannot be
  /// said, and the chain is the one of most operations.
  private(set) var remainingTime: Duration?

  /// All of it together, without the roots.
  var counts: StateCounts { levels.dropFirst().reduce(StateCounts(), +) }

  /// Looks at so many operations at most, the nearest to the roots.
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

/// The graph while it is looked at.
private struct Walk {
  typealias ID = OperationReport.ID

  let roots: [ID]
  let operations: OperationStore
  /// Where each operation that is looked at leads to.
  let edges: [ID: [ID]]
  let isCut: Bool

  init(roots: [ID], operations: OperationStore, direction: GraphDirection, limit: Int) {
    self.roots = roots
    self.operations = operations
    let reports = operations.neighbourhood(of: roots, direction, limit: limit)
    let onlyRoot = roots.count == 1 ? roots.first : nil
    edges = Dictionary(
      uniqueKeysWithValues: reports.map { report in
        // What an operation once waited for says nothing about what is to come.
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
    // Seconds and numbers of operations cannot be compared.
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
  /// Counts one more operation of this state.
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
      // Whether it has started does not matter where only the bar is drawn.
      executing += 1
      cancelling += 1
    case .finished: finished += 1
    case .cancelled: cancelled += 1
    }
  }
}
