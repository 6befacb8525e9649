// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The kinds of operations of a queue that have timers of their own.
struct TimerKinds {
  /// The maximum number of pairs of a queue and a kind that have timers of their own. Further
  /// kinds of a queue share timers.
  static let limit = 500
  /// The shared label of the kinds of a queue that have no timers of their own.
  static let other = "_other"

  private var names: [String: Set<String>] = [:]
  private var count = 0

  /// Returns the label for the timers of a kind in a queue.
  mutating func label(for kind: String, in queue: String) -> String {
    let name = LabelText.harmless(kind)
    if names[queue]?.contains(name) == true { return name }
    guard count < Self.limit else { return Self.other }
    names[queue, default: []].insert(name)
    count += 1
    return name
  }

  /// Removes all kinds of a queue.
  mutating func drop(queue: String) { count -= names.removeValue(forKey: queue)?.count ?? 0 }
}
