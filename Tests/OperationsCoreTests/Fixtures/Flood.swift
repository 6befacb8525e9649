// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization

/// A queue that has always a thousand operations ready: each one adds the next, until the flood ends.
final class Flood: Sendable {
  let queue = OperationQueue()
  private let runs = Atomic<Int>(0)
  private let isOver = Flag()
  private let limit: Int

  /// Begins at once, and ends by itself after so many operations, so that a test that would wait for
  /// the end of a flood fails instead of hanging.
  init(width: Int, limit: Int) {
    self.limit = limit
    queue.maxConcurrentOperationCount = width
    for _ in 0..<1_000 { add() }
  }

  /// How many operations have run.
  var runCount: Int { runs.load(ordering: .relaxed) }

  /// Whether it has ended by itself.
  var hasReachedLimit: Bool { runCount >= limit }

  /// Nothing more is added; returns when all has run.
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
