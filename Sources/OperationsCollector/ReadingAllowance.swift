// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Limits the number of operations that a queue records between two readings.
///
/// If an operation is in a queue during a reading, it gets a record at this or a later reading. If
/// operations are added and finish between two readings, only a limited number of them get a
/// record. Therefore the monitor costs a process with a hundred thousand operations per second no
/// more than a process with some thousands. A queue is called quick if very many of its operations
/// are added and finish between two readings. The quick queues share the limited number of records,
/// so that all operations of the other queues get records.
struct ReadingAllowance {
  /// The maximum number of new operations that get a record when they are added, between one
  /// reading and the next. All quick queues (queues with very many operations that are added and
  /// finish between two readings) share this number.
  static let newRecords = 1_000
  /// The minimum part of ``newRecords`` for one quick queue, which is a queue with very many
  /// operations that are added and finish between two readings. If very many queues are quick, each
  /// of them may still record this number of new operations.
  private static let fewestNewRecords = 50

  /// A queue is quick if more than this number of its state changes are not recorded between two
  /// readings. A queue with many waiting operations usually does not exceed this number, so the
  /// waiting operations get records soon.
  private static let quickSteps = 1_000

  /// The limits for one reading of the changes of one queue.
  struct Part {
    /// The maximum number of existing operations without a record that get a record in this
    /// reading.
    fileprivate(set) var adopting: Int
    /// The maximum number of new operations that get a record when they are added, until the next
    /// reading; `nil` if the maximum does not change.
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
  /// This maximum is half of the maximum for new operations, so that records for existing
  /// operations do not double the cost.
  private var adoptedShare: Int { share / 2 }
}
