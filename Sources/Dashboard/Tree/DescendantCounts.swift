// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The numbers of unfinished operations below the operations of a tree. An operation to which several paths
/// lead is counted once.
struct DescendantCounts: Sendable, Equatable {
  private var counts: [OperationReport.ID: Int] = [:]

  /// Creates empty counts.
  init() {}

  /// Counts the operations below the roots and below all operations to which the roots lead. Examines at most
  /// `limit` operations.
  init(
    below roots: [OperationReport.ID], _ direction: GraphDirection, in operations: OperationStore,
    limit: Int
  ) {
    let reports = operations.neighbourhood(of: roots, direction, limit: limit).filter {
      !$0.state.isOver
    }
    let indexes = Dictionary(uniqueKeysWithValues: zip(reports.lazy.map(\.id), reports.indices))
    let edges = reports.map { report in
      operations.neighbours(of: report, direction, limit: limit).compactMap { indexes[$0] }
    }
    // Each operation has a set of the operations below it, with one bit for each operation.
    let width = (reports.count + 63) / 64
    var bits = [UInt64](repeating: 0, count: reports.count * width)
    /// Adds the operations below the neighbours of an operation to its set. Returns whether the set has
    /// changed.
    func extend(_ index: Int) -> Bool {
      var hasChanged = false
      for target in edges[index] {
        for word in 0..<width {
          var new = bits[target * width + word]
          if word == target / 64 { new |= 1 << UInt64(target % 64) }
          let old = bits[index * width + word]
          guard old | new != old else { continue }
          bits[index * width + word] = old | new
          hasChanged = true
        }
      }
      return hasChanged
    }
    // In the order of a breadth-first search, most operations come before the operations below them. Therefore
    // a few rounds suffice.
    var isComplete = false
    while !isComplete {
      isComplete = true
      for index in reports.indices.reversed() where extend(index) { isComplete = false }
    }
    for (index, report) in reports.enumerated() {
      // In a cycle, the operation itself is below it. The operation is not counted.
      bits[index * width + index / 64] &= ~(1 << UInt64(index % 64))
      counts[report.id] = (0..<width).reduce(0) { $0 + bits[index * width + $1].nonzeroBitCount }
    }
  }

  /// The number of unfinished operations below an operation; 0 if it is not known.
  subscript(id: OperationReport.ID) -> Int { counts[id, default: 0] }
}
