// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// How many operations the collector takes up between two readings.
///
/// What is in a queue at a reading is all taken up, in the end. What comes and goes in between is
/// recorded from the start up to a number, so that a process pays the same for a hundred thousand
/// operations in a second as for some thousands. A queue that goes beyond the number is quick; the quick
/// ones share it, so that one that is not quick is known in full.
struct ReadingAllowance {
  /// How many operations are recorded from the start between two readings, of all quick queues.
  static let newRecords = 1_000
  /// How many each of them has at least.
  private static let fewestNewRecords = 50

  /// A queue of which so many steps are lost between two readings is quick. What comes and goes beside
  /// operations that wait is not enough for that: these are all to be known soon.
  private static let quickSteps = 1_000

  /// What one queue is asked for.
  struct Part {
    /// The most operations to be taken up that have no record yet.
    fileprivate(set) var adopting: Int
    /// How many are to be recorded from the start from now on; `nil` where that has been said.
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

  /// The first that a queue is asked for in a reading.
  func part(of queue: QueueID) -> Part {
    Part(adopting: lastQuick.contains(queue) ? adoptedShare : .max, newRecords: share)
  }

  /// What it is asked for after it has answered.
  mutating func next(_ part: Part, after changes: QueueChanges) -> Part {
    if changes.lostSteps > Self.quickSteps { quick.insert(changes.id) }
    let limit = quick.contains(changes.id) ? min(part.adopting, adoptedShare) : part.adopting
    return Part(adopting: max(0, limit - changes.adoptedCount), newRecords: nil)
  }

  /// Of what stays in a quick queue less is taken up at a time than of what is new: as much would cost
  /// the same again.
  private var adoptedShare: Int { share / 2 }
}
