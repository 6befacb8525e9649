// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that are in a condition which is worth a warning when it lasts.
///
/// There may be a million of them: one that comes or goes, and the passing of time, cost the same
/// however many there are.
struct LastingCondition {
  private struct Place {
    let id: OperationReport.ID
    let since: MonitorTime
  }

  /// So long the condition may last before it is said.
  let patience: Duration
  /// In the order in which they came. One that has gone stays until half of them have.
  private var places: [Place] = []
  /// Where in `places` those are that are in the condition now.
  private var indices: [OperationReport.ID: Int] = [:]
  /// Up to here the patience is over.
  private var dueEnd = 0
  /// Before here all have gone.
  private var start = 0
  /// From `dueEnd` to here all have gone.
  private var pendingStart = 0
  /// How many are in the condition for which the patience is over.
  private(set) var dueCount = 0

  init(patience: Duration) { self.patience = patience }

  /// An operation is in the condition, from `now` on where it was not before.
  ///
  /// - Precondition: No earlier than the call before.
  mutating func insert(_ id: OperationReport.ID, at now: MonitorTime) {
    guard indices[id] == nil else { return }
    indices[id] = places.count
    places.append(Place(id: id, since: now))
  }

  /// An operation is not in the condition any more, or was not.
  mutating func remove(_ id: OperationReport.ID) {
    // Which is asked for every change of every operation, nearly always in vain.
    if indices.isEmpty { return }
    guard let index = indices.removeValue(forKey: id) else { return }
    if index < dueEnd { dueCount -= 1 }
    skipGone()
    if places.count > 2 * indices.count + 64 { compact() }
  }

  /// Time has passed.
  mutating func advance(to now: MonitorTime) {
    while dueEnd < places.count, now - places[dueEnd].since >= patience {
      if isHere(dueEnd) { dueCount += 1 }
      dueEnd += 1
    }
    skipGone()
  }

  /// Each place is passed once.
  private mutating func skipGone() {
    while start < dueEnd, !isHere(start) { start += 1 }
    pendingStart = max(pendingStart, dueEnd)
    while pendingStart < places.count, !isHere(pendingStart) { pendingStart += 1 }
  }

  /// Those for which the patience is over, the longest first, and since when; at most so many.
  func due(_ limit: Int) -> [(id: OperationReport.ID, since: MonitorTime)] {
    Array(
      (start..<dueEnd).lazy.filter(isHere).prefix(limit).map {
        (id: places[$0].id, since: places[$0].since)
      })
  }

  /// The next moment at which the patience is over for another one.
  var nextMoment: MonitorTime? {
    pendingStart < places.count ? places[pendingStart].since + patience : nil
  }

  private func isHere(_ index: Int) -> Bool { indices[places[index].id] == index }

  private mutating func compact() {
    var kept: [Place] = []
    kept.reserveCapacity(indices.count)
    var dueCount = 0
    for index in places.indices where isHere(index) {
      if index < dueEnd { dueCount += 1 }
      kept.append(places[index])
    }
    for (index, place) in kept.enumerated() { indices[place.id] = index }
    places = kept
    dueEnd = dueCount
    pendingStart = dueCount
    start = 0
  }
}
