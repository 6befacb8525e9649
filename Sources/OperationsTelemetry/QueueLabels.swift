// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which queues have a label of their own: so many at once, however many names come and go.
///
/// Queues of one name have one label. A name keeps its label when its queues are gone, until another
/// one needs the place: its totals go on if they come back.
struct QueueLabels {
  /// How many names have a label of their own.
  static let limit = 100
  /// The label of all others.
  static let other = "_other"

  /// When each label was last that of a live queue, in updates.
  private var lastUse: [String: Int] = [:]
  private var update = 0

  /// Begins an update in which there are queues of these names.
  ///
  /// - Returns: The labels that are no longer used.
  mutating func begin(with names: Set<String>) -> [String] {
    update += 1
    for name in names where lastUse[name] != nil { lastUse[name] = update }
    var evicted: [String] = []
    // Sorted, so that who comes first does not depend on chance.
    for name in names.filter({ lastUse[$0] == nil }).sorted() {
      if lastUse.count >= Self.limit {
        let gone = lastUse.filter { $0.value < update }
        guard let oldest = gone.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { break }
        lastUse[oldest.key] = nil
        evicted.append(oldest.key)
      }
      lastUse[name] = update
    }
    return evicted
  }

  /// The label of queues of this name.
  func label(for name: String) -> String { lastUse[name] == nil ? Self.other : name }
}
