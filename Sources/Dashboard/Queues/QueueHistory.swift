// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The starts of operations and the use of slots of one queue in the last 60 seconds.
struct QueueHistory: Sendable, Equatable {
  /// How much of a queue's width was in use in the last minute.
  enum Use: Sendable, Equatable {
    /// The mean share of the slots that were taken, from 0 to 1.
    case share(Double)
    /// The mean number of executing operations. The queue has no width.
    case count(Double)
  }

  /// The number of operations that began to execute in each complete second, the oldest second first.
  var samples: [Int] { [] }
  /// The number of starts per second; `nil` before the first complete second.
  var rate: Double? { nil }
  /// The use of the queue's slots; `nil` before the first complete second.
  var use: Use? { nil }

  /// Returns whether an operation has started in one of the last `count` seconds or in the current second.
  func isMoving(within count: Int) -> Bool { false }
}

extension MonitoredState {
  /// Adds the counts of an update to the histories of the queues.
  mutating func noteQueueHistories(_ update: Update) {}

  /// Completes the seconds of the queues' histories that have ended at `time`.
  mutating func advanceQueueHistories(to time: MonitorTime) {}
}

extension Dashboard {
  /// Whether the screen shows a history of starts that changes with the next second.
  var queueHistoryMoves: Bool { false }
}
