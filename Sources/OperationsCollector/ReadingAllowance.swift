// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Limits the number of operations that get a record between two readings.
///
/// Operations that are in a queue at a reading all get a record eventually. Operations that come
/// and go between two readings get one only up to a number, so that the cost for a process
/// with a hundred thousand operations per second is the same as with some thousands. A queue that
/// exceeds the number is called quick. The quick queues share the number, so that the other queues
/// have complete records.
struct ReadingAllowance {
  /// The maximum number of new operations that have a record from the start between two readings, in
  /// all quick queues.
  static let newRecords = 1_000
  /// The minimum for each quick queue.
  private static let fewestNewRecords = 50

  /// A queue with this number of changes without a record between two readings is quick. Operations that
  /// come and go in a queue with many waiting ones do not exceed it, so the waiting ones get
  /// a record soon.
  private static let quickSteps = 1_000

  /// The request to one queue.
  struct Part {
    /// The maximum number of existing operations without a record to read.
    fileprivate(set) var adopting: Int
    /// The number of new operations that get a record from the start; `nil` if it does not change.
    fileprivate(set) var newRecords: Int?
  }

  private var lastQuick: Set<QueueID> = []
  private var quick: Set<QueueID> = []

  private var share: Int {
    max(Self.fewestNewRecords, Self.newRecords / max(1, lastQuick.count))
  }

  /// Begins a reading.
  mutating func begin() {
    lastQuick = quick
    quick = []
  }

  /// Returns the first request to a queue in a reading.
  func part(of queue: QueueID) -> Part {
    Part(adopting: lastQuick.contains(queue) ? adoptedShare : .max, newRecords: share)
  }

  /// Returns the next request after the queue's answer.
  mutating func next(_ part: Part, after changes: QueueChanges) -> Part {
    if changes.lostSteps > Self.quickSteps { quick.insert(changes.id) }
    let limit = quick.contains(changes.id) ? min(part.adopting, adoptedShare) : part.adopting
    return Part(adopting: max(0, limit - changes.adoptedCount), newRecords: nil)
  }

  /// In a quick queue, fewer existing operations than new ones are read at once. Otherwise the cost
  /// would double.
  private var adoptedShare: Int { share / 2 }
}
