// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Assigns the runs of a queue's operations to slots for drawing.
///
/// A queue does not report the slots of its operations. Runs are assigned in the order of their start. Each
/// run gets the lowest slot in which it overlaps no other run, and keeps this slot while the run is known. A
/// new run may still change its slot once, because the end of the previous run may be reported one update
/// after the start of the new run.
struct SlotAssignment: Sendable, Equatable {
  private struct Place: Equatable {
    /// The index of the slot, counted from 0.
    var slot: Int
    /// Whether the slot of the run no longer changes.
    var isFinal: Bool
  }

  /// The maximum number of slots that are drawn for one queue. More slots would not be useful.
  static let stripLimit = 128

  private var places: [OperationReport.ID: Place] = [:]

  /// The runs of one slot, sorted by their start. No two of these runs overlap.
  typealias Strip = [OperationRun]

  /// Assigns slots to the runs of one queue.
  ///
  /// - Parameters:
  ///   - runs: The known runs, sorted by their start.
  ///   - isNews: Whether `runs` contains runs that the previous call did not get.
  /// - Returns: The runs of each slot, from slot 0. A slot may be empty. Runs without a slot are left out.
  mutating func assign(_ runs: [OperationRun], isNews: Bool = true) -> [Strip] {
    var strips: [Strip] = []
    var assigned: [OperationReport.ID: Place] = [:]
    assigned.reserveCapacity(runs.count)
    let earlier = runs.map { places[$0.id] }
    var rest: [Int] = []
    // Runs that already have a slot are placed before new runs, so that no new run takes their slot.
    for (index, run) in runs.enumerated() {
      guard let place = earlier[index], place.isFinal || !isNews,
        Self.fits(run, in: strips, slot: place.slot)
      else {
        rest.append(index)
        continue
      }
      Self.insert(run, into: &strips, slot: place.slot)
      assigned[run.id] = place
    }
    for index in rest {
      let run = runs[index]
      guard assigned[run.id] == nil else { continue }
      let slot = strips.indices.first { Self.fits(run, in: strips, slot: $0) } ?? strips.count
      guard slot < Self.stripLimit else { continue }
      Self.insert(run, into: &strips, slot: slot)
      assigned[run.id] = Place(slot: slot, isFinal: isNews && earlier[index] != nil)
    }
    places = assigned
    return strips
  }

  /// Returns whether a run overlaps no other run of a slot. The search begins at the end, because a run is
  /// nearly always the last one of its slot.
  private static func fits(_ run: OperationRun, in strips: [Strip], slot: Int) -> Bool {
    guard slot < strips.count else { return true }
    for other in strips[slot].reversed() {
      guard let otherEnd = other.finished else {
        // If the other run in the slot has not ended, a run fits into the slot only if it ended before the
        // other run started.
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
