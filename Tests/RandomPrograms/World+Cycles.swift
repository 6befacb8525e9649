// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension World {
  /// Cancels the operations that would never start because they wait for themselves, directly or
  /// through other operations. An operation waits for its dependencies, and, if a barrier separates
  /// them, for earlier operations of its queue.
  func breakDeadlocks() {
    let segments = segments
    for operation in Self.cyclic(among: reachable, by: { obstacles(of: $0, segments) }) {
      if let index = index(of: operation) { excuse([index]) }
      operation.cancel()
    }
  }

  /// Removes dependencies of operations that retain each other, so that the operations are
  /// released.
  func breakRetainCycles() {
    for operation in Self.cyclic(among: reachable, by: \.dependencies) {
      for dependency in operation.dependencies { operation.removeDependency(dependency) }
    }
  }

  private static func cyclic(
    among operations: [Operation], by neighbours: (Operation) -> [Operation]
  ) -> [Operation] {
    operations.filter { start in
      var reached: Set<Operation> = []
      var open = neighbours(start)
      while let next = open.popLast() {
        if next === start { return true }
        if reached.insert(next).inserted { open += neighbours(next) }
      }
      return false
    }
  }

  /// Returns the operations that must finish before a certain operation can start.
  private func obstacles(of operation: Operation, _ segments: [[Operation: Int]]) -> [Operation] {
    if operation.isExecuting || operation.isFinished { return [] }
    var obstacles = operation.isCancelled ? [] : operation.dependencies.filter { !$0.isFinished }
    for segment in segments {
      guard let own = segment[operation] else { continue }
      obstacles += segment.filter { $0.value < own }.map(\.key)
    }
    return obstacles
  }

  /// For each queue, the number of barriers that were added before each of its operations.
  private var segments: [[Operation: Int]] {
    program.queues.indices.map { index in
      guard let queue = livingQueue(index) else { return [:] }
      return queue.schedulerContent.segments
    }
  }
}
