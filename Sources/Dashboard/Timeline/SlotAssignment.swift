// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Which slot of its queue each run is drawn in.
///
/// Nobody is told in which of its slots a queue runs an operation. Each run gets the lowest slot in
/// which it overlaps no other one, the earliest first, and keeps it as long as it is known. At first
/// it may still move: that the one before it has ended may be told an update later.
struct SlotAssignment: Sendable, Equatable {
  private struct Place: Equatable {
    /// From 0.
    var slot: Int
    /// Whether the run stays there.
    var isFinal: Bool
  }

  /// More strips of one queue than these are not drawn: nobody looks through as many.
  static let stripLimit = 128

  private var places: [OperationReport.ID: Place] = [:]

  /// The runs of one slot, by start; none overlaps another.
  typealias Strip = [OperationRun]

  /// Assigns the runs of one queue.
  ///
  /// - Parameters:
  ///   - runs: What is known now, by start.
  ///   - isNews: Whether that is more than the last time.
  /// - Returns: The runs of each slot, from slot 0; a slot may have none. A run for which there is no
  ///   slot is left out.
  mutating func assign(_ runs: [OperationRun], isNews: Bool = true) -> [Strip] {
    var strips: [Strip] = []
    var assigned: [OperationReport.ID: Place] = [:]
    // Those that have a slot first, so that no new one takes it away.
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

  /// Looks from the end: nearly always a run is the last one of its strip.
  private static func fits(_ run: OperationRun, in strips: [Strip], slot: Int) -> Bool {
    guard slot < strips.count else { return true }
    for other in strips[slot].reversed() {
      guard let otherEnd = other.finished else {
        // It goes on, so that nothing that goes on, or ends later than it began, has room.
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
