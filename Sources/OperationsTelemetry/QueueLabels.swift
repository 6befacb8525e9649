// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The names of queues that have a label of their own. The number of these names is limited, even
/// if a program always creates queues with new names.
///
/// Queues with the same name share a label. After all queues of a name are deallocated, the name
/// keeps its label until another name replaces it. If a queue with the same name is created before
/// the name is replaced, the totals of the label continue.
struct QueueLabels {
  /// The maximum number of names with a label of their own.
  static let limit = 100
  /// The shared label of all queues whose name has no label of its own.
  static let other = "_other"

  /// For each label, the sequence number of the last update in which a queue with this name
  /// existed.
  private var lastUse: [String: Int] = [:]
  private var update = 0

  /// Begins an update that contains queues with these names.
  ///
  /// - Returns: The labels that other names have replaced.
  mutating func begin(with names: Set<String>) -> [String] {
    update += 1
    for name in names where lastUse[name] != nil { lastUse[name] = update }
    var evicted: [String] = []
    // The names are sorted, so that the result is the same in each run.
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

  /// Returns the label of queues with this name.
  func label(for name: String) -> String { lastUse[name] == nil ? Self.other : name }
}
