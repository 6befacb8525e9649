// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which classes of a queue have timers of their own.
struct TimerClasses {
  /// So many pairs of a queue and a class have, whichever come first.
  static let limit = 500
  /// What the others of a queue are called.
  static let other = "_other"

  private var names: [String: Set<String>] = [:]
  private var count = 0

  /// The label of a class among those of a queue.
  mutating func label(for className: String, in queue: String) -> String {
    let name = LabelText.harmless(className)
    if names[queue]?.contains(name) == true { return name }
    guard count < Self.limit else { return Self.other }
    names[queue, default: []].insert(name)
    count += 1
    return name
  }

  /// Forgets the classes of a queue.
  mutating func drop(queue: String) { count -= names.removeValue(forKey: queue)?.count ?? 0 }
}
