// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The changes of one object that were announced by `willChange` but not yet by `didChange`.
///
/// A change belongs to the thread that has announced it, so that each thread finds its own changes
/// without reading the changes of other threads.
struct PendingChanges {
  struct Change {
    /// A number that identifies the change among all changes of this object.
    let number: UInt64
    let key: ObservedKey
    /// The values before the change, for the registrations that request them.
    let oldValues: [(registration: KeyValueRegistration, value: Any)]

    func oldValue(for registration: KeyValueRegistration) -> Any? {
      oldValues.first { $0.registration === registration }?.value
    }
  }

  /// The maximum number of changes that one thread may have announced and not made. If a thread
  /// announces more changes, the program has probably forgotten to call `didChangeValue`, and the
  /// oldest change is dropped.
  static let limitPerThread = 256
  /// The maximum number of changes that all threads together may have announced and not made. The
  /// live threads of a process cannot reach this limit in practice. It limits the changes that
  /// ended threads leave behind.
  static let limit = 65_536

  private var changesOfThreads: [UInt64: [Change]] = [:]
  private(set) var count = 0
  private var lastNumber: UInt64 = 0

  /// Adds a change that a thread is about to make.
  ///
  /// - Returns: The new change, and the old changes that are dropped because there are too many.
  ///   The caller releases the dropped changes outside its lock.
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

  /// Returns the changes that a thread has announced but not made. The change that was announced
  /// last is the last element.
  func changes(ofThread thread: UInt64) -> [Change] { changesOfThreads[thread] ?? [] }

  /// Removes the change with this number, which a thread has made. Returns `nil` if the change was
  /// dropped.
  mutating func remove(_ number: UInt64, ofThread thread: UInt64) -> Change? {
    guard let index = changesOfThreads[thread]?.lastIndex(where: { $0.number == number }) else {
      return nil
    }
    count -= 1
    let change = changesOfThreads[thread]?.remove(at: index)
    if changesOfThreads[thread]?.isEmpty == true { changesOfThreads[thread] = nil }
    return change
  }

  /// Drops at least the older half of the changes. The next call follows only after as many new
  /// announcements as changes were dropped, so the average cost of an announcement stays small.
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
