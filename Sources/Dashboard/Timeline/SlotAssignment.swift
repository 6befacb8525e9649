// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The slots of a queue in which the runs are drawn.
///
/// A queue does not report in which slot it runs an operation. Each run gets the lowest slot in which it
/// overlaps no other run, the earliest run first, and keeps the slot while the run is known. At first it may
/// still move, because the end of the previous run may be reported one update later.
struct SlotAssignment: Sendable, Equatable {
  private struct Place: Equatable {
    /// The slot, counted from 0.
    var slot: Int
    /// Whether the run keeps this slot.
    var isFinal: Bool
  }

  /// The maximum number of drawn slots of one queue. More would not be useful.
  static let stripLimit = 128

  private var places: [OperationReport.ID: Place] = [:]

  /// The runs of one slot, by start; no two of them overlap.
  typealias Strip = [OperationRun]

  /// Assigns slots to the runs of one queue.
  ///
  /// - Parameters:
  ///   - runs: The known runs, by start.
  ///   - isNews: Whether `runs` contains more than the last time.
  /// - Returns: The runs of each slot, from slot 0; a slot may be empty. A run without a free slot is left
  ///   out.
  mutating func assign(_ runs: [OperationRun], isNews: Bool = true) -> [Strip] {
    var strips: [Strip] = []
    var assigned: [OperationReport.ID: Place] = [:]
    // Runs with a slot come first, so that no new run takes their slot.
    for run in runs {
      guard let place = places[run.id], place.isFinal || !isNews,
        Self.fits(run, in: strips, slot: place.slot)
      else { continue }
      Self.insert(run, into: &strips, slot: place.slot)
      assigned[run.id] = place
    }
    for run in runs where assigned[run.id] == nil {
      let slot = strips.indices.first { Self.fits(run, in: strips, slot: $0) } ?? strips.count
      guard slot < Self.stripLimit else { continue }
      Self.insert(run, into: &strips, slot: slot)
      assigned[run.id] = Place(slot: slot, isFinal: isNews && places[run.id] != nil)
    }
    places = assigned
    return strips
  }

  /// Searches from the end, because a run is nearly always the last one of its strip.
  private static func fits(_ run: OperationRun, in strips: [Strip], slot: Int) -> Bool {
    guard slot < strips.count else { return true }
    for other in strips[slot].reversed() {
      guard let otherEnd = other.finished else {
        // The other run has not ended, so this run fits only if it ended before that one started.
        guard let end = run.finished, end <= other.started else { return false }
        continue
      }
      if otherEnd <= run.started { return true }
      guard let end = run.finished, end <= other.started else { return false }
    }
    return true
  }

  private static func insert(_ run: OperationRun, into strips: inout [Strip], slot: Int) {
    while strips.count <= slot { strips.append([]) }
    var index = strips[slot].count
    while index > 0, strips[slot][index - 1].started > run.started { index -= 1 }
    strips[slot].insert(run, at: index)
  }
}
