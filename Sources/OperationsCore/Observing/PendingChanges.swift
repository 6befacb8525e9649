// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The changes of one object that were announced by `willChange` and not yet by `didChange`.
///
/// A pure value. A change belongs to the thread that has announced it, so that each thread finds its own
/// without looking at those of others.
struct PendingChanges {
  struct Change {
    /// Tells it apart from all others of this object.
    let number: UInt64
    let key: ObservedKey
    /// The values before the change, of those that asked for them.
    let oldValues: [(registration: KeyValueRegistration, value: Any)]

    func oldValue(for registration: KeyValueRegistration) -> Any? {
      oldValues.first { $0.registration === registration }?.value
    }
  }

  /// How many changes one thread may have announced and not made. A program that nests more has
  /// forgotten to make them: the oldest is dropped.
  static let limitPerThread = 256
  /// How many changes all threads together may have announced and not made. More than the threads of a
  /// process can make at the same time; it bounds what threads that have ended leave behind.
  static let limit = 65_536

  private var changesOfThreads: [UInt64: [Change]] = [:]
  private(set) var count = 0
  private var lastNumber: UInt64 = 0

  /// A thread is about to make a change.
  ///
  /// - Returns: The change, and the old ones that are dropped because there are too many. The caller
  ///   releases them outside its lock.
  mutating func append(
    _ key: ObservedKey, _ oldValues: [(registration: KeyValueRegistration, value: Any)],
    ofThread thread: UInt64
  ) -> (change: Change, dropped: [Change]) {
    lastNumber += 1
    let change = Change(number: lastNumber, key: key, oldValues: oldValues)
    changesOfThreads[thread, default: []].append(change)
    count += 1
    if let oldest = changesOfThreads[thread]?.first,
      changesOfThreads[thread]?.count ?? 0 > Self.limitPerThread
    {
      changesOfThreads[thread]?.removeFirst()
      count -= 1
      return (change, [oldest])
    }
    return (change, count > Self.limit ? dropOlderHalf() : [])
  }

  /// The changes that a thread has announced, the innermost last.
  func changes(ofThread thread: UInt64) -> [Change] { changesOfThreads[thread] ?? [] }

  /// A thread has made the change of this number. `nil` if the change was dropped.
  mutating func remove(_ number: UInt64, ofThread thread: UInt64) -> Change? {
    guard let index = changesOfThreads[thread]?.lastIndex(where: { $0.number == number }) else {
      return nil
    }
    count -= 1
    let change = changesOfThreads[thread]?.remove(at: index)
    if changesOfThreads[thread]?.isEmpty == true { changesOfThreads[thread] = nil }
    return change
  }

  /// Drops at least half of the changes, the older ones, so that the cost is spread over as many
  /// announcements.
  private mutating func dropOlderHalf() -> [Change] {
    let firstKept = lastNumber - UInt64(Self.limit / 2) + 1
    var dropped: [Change] = []
    for (thread, changes) in changesOfThreads {
      let kept = changes.filter { $0.number >= firstKept }
      dropped += changes.filter { $0.number < firstKept }
      changesOfThreads[thread] = kept.isEmpty ? nil : kept
    }
    count -= dropped.count
    return dropped
  }
}
