// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The names of queues that have a label of their own. Their number is limited, however many names come and
/// go.
///
/// Queues with the same name share a label. When its queues are deallocated, a name keeps its label until
/// another name needs the place. Its totals continue if such queues come back.
struct QueueLabels {
  /// The maximum number of names with a label of their own.
  static let limit = 100
  /// The label of all other names.
  static let other = "_other"

  /// The number of the last update in which each label belonged to a live queue.
  private var lastUse: [String: Int] = [:]
  private var update = 0

  /// Begins an update that contains queues of these names.
  ///
  /// - Returns: The labels that are no longer used.
  mutating func begin(with names: Set<String>) -> [String] {
    update += 1
    for name in names where lastUse[name] != nil { lastUse[name] = update }
    var evicted: [String] = []
    // Sorted, so that the result is the same in each run.
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

  /// Returns the label of queues of this name.
  func label(for name: String) -> String { lastUse[name] == nil ? Self.other : name }
}
