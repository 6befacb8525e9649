// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations in a condition, such as "not ready". If the condition of an operation lasts, it
/// causes a warning.
///
/// There may be a million of these operations. The cost of adding or removing an operation does not
/// depend on their number.
struct LastingCondition {
  private struct Place {
    let id: OperationReport.ID
    let since: MonitorTime
  }

  /// The time for which the condition may last before a warning.
  let patience: Duration
  /// The operations, in the order in which they were added. A removed operation stays in the array
  /// until about half of the operations in it are removed.
  private var places: [Place] = []
  /// The indices in `places` of the operations that are in the condition now.
  private var indices: [OperationReport.ID: Int] = [:]
  /// The index in `places` before which all operations were added at least `patience` (the time
  /// before a warning) ago.
  private var dueEnd = 0
  /// The index in `places` before which all operations were removed.
  private var start = 0
  /// The index in `places` of the first operation after `dueEnd` that was not removed.
  private var pendingStart = 0
  /// The number of operations that have been in the condition for at least `patience`, the time
  /// before a warning.
  private(set) var dueCount = 0

  init(patience: Duration) { self.patience = patience }

  /// Adds an operation for which the condition holds. If the operation is not already present, the condition
  /// has held since `now`.
  ///
  /// - Precondition: `now` is not earlier than in the previous call of this method.
  mutating func insert(_ id: OperationReport.ID, at now: MonitorTime) {
    guard indices[id] == nil else { return }
    indices[id] = places.count
    places.append(Place(id: id, since: now))
  }

  /// Removes an operation for which the condition no longer holds, if it is present.
  mutating func remove(_ id: OperationReport.ID) {
    // This check makes the usual case quick: the method is called for every change of every
    // operation, and the operation is rarely present.
    if indices.isEmpty { return }
    guard let index = indices.removeValue(forKey: id) else { return }
    if index < dueEnd { dueCount -= 1 }
    skipGone()
    if places.count > 2 * indices.count + 64 { compact() }
  }

  /// Sets the current time, and counts the operations that have now been in the condition for at
  /// least `patience`, the time before a warning.
  mutating func advance(to now: MonitorTime) {
    while dueEnd < places.count, now - places[dueEnd].since >= patience {
      if isHere(dueEnd) { dueCount += 1 }
      dueEnd += 1
    }
    skipGone()
  }

  /// Moves the indices in `places` past removed operations. The indices only increase, so each
  /// index passes each element only once.
  private mutating func skipGone() {
    while start < dueEnd, !isHere(start) { start += 1 }
    pendingStart = max(pendingStart, dueEnd)
    while pendingStart < places.count, !isHere(pendingStart) { pendingStart += 1 }
  }

  /// Returns the operations that have been in the condition for at least `patience`, up to a limit,
  /// with the time at which the condition of each operation began. The operation that has been in
  /// the condition for the longest time is first.
  func due(_ limit: Int) -> [(id: OperationReport.ID, since: MonitorTime)] {
    Array(
      (start..<dueEnd).lazy.filter(isHere).prefix(limit).map {
        (id: places[$0].id, since: places[$0].since)
      })
  }

  /// The next moment at which another operation will have been in the condition for `patience`, the
  /// time before a warning; `nil` if there is no such operation.
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
