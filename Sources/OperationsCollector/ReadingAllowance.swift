// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Limits the number of operations that a queue records between two readings.
///
/// If an operation is in a queue during a reading, it gets a record at this or a later reading. If
/// operations are added and finish between two readings, only a limited number of them get a
/// record. Therefore the monitor costs a process with a hundred thousand operations per second no
/// more than a process with some thousands. A queue with very many such operations is called quick.
/// The quick queues share the limited number, so that the other queues have complete records.
struct ReadingAllowance {
  /// The maximum number of new operations in all quick queues together that get a record
  /// immediately between two readings.
  static let newRecords = 1_000
  /// The minimum number of new operations in each quick queue that get a record immediately between
  /// two readings.
  private static let fewestNewRecords = 50

  /// A queue is quick if more than this number of its state changes are not recorded between two
  /// readings. A queue with many waiting operations usually does not exceed this number, so its
  /// waiting operations get records soon.
  private static let quickSteps = 1_000

  /// The limits for one reading of one queue.
  struct Part {
    /// The maximum number of existing operations that get a record in this reading.
    fileprivate(set) var adopting: Int
    /// The number of new operations that get a record immediately until the next reading; `nil` if
    /// the number does not change.
    fileprivate(set) var newRecords: Int?
  }

  private var lastQuick: Set<QueueID> = []
  private var quick: Set<QueueID> = []

  private var share: Int {
    max(Self.fewestNewRecords, Self.newRecords / max(1, lastQuick.count))
  }

  /// Begins a reading of the queues.
  mutating func begin() {
    lastQuick = quick
    quick = []
  }

  /// Returns the limits for the first request to a queue in a reading.
  func part(of queue: QueueID) -> Part {
    Part(adopting: lastQuick.contains(queue) ? adoptedShare : .max, newRecords: share)
  }

  /// Returns the limits for the next request to a queue after it has returned these changes.
  mutating func next(_ part: Part, after changes: QueueChanges) -> Part {
    if changes.lostSteps > Self.quickSteps { quick.insert(changes.id) }
    let limit = quick.contains(changes.id) ? min(part.adopting, adoptedShare) : part.adopting
    return Part(adopting: max(0, limit - changes.adoptedCount), newRecords: nil)
  }

  /// The maximum number of existing operations of a quick queue that get a record in one reading.
  /// It is half of the number for new operations, because records for both would otherwise double
  /// the cost.
  private var adoptedShare: Int { share / 2 }
}
