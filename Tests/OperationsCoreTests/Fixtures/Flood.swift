// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization

/// A flood of operations: a queue that always has a thousand ready operations. Each operation adds
/// the next, until the flood ends.
final class Flood: Sendable {
  let queue = OperationQueue()
  private let runs = Atomic<Int>(0)
  private let isOver = Flag()
  private let limit: Int

  /// Starts the flood of operations. It ends after a number of operations, so that a failing test
  /// does not wait for ever.
  init(width: Int, limit: Int) {
    self.limit = limit
    queue.maxConcurrentOperationCount = width
    for _ in 0..<1_000 { add() }
  }

  /// The number of operations that have executed.
  var runCount: Int { runs.load(ordering: .relaxed) }

  /// Whether the flood of operations has ended because of its limit.
  var hasReachedLimit: Bool { runCount >= limit }

  /// Stops adding operations, and returns when all added operations have executed.
  func end() {
    isOver.raise()
    queue.waitUntilAllOperationsAreFinished()
  }

  private func add() {
    queue.addOperation { [self] in
      runs.wrappingAdd(1, ordering: .relaxed)
      if !isOver.isRaised, !hasReachedLimit { add() }
    }
  }
}
