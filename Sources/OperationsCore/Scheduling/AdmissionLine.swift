// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The threads and tasks that wait until a queue has fewer operations than a limit.
///
/// They are admitted in the order of their arrival, each as soon as the number of operations is below its limit. An
/// admitted caller is expected to add one operation, and *holds a place* until then: it counts like an operation.
/// So 1,000 callers that wait for a count below 100 do not all add an operation at the same moment. The next
/// operation that is added to the queue, by any caller, takes the oldest place, because the line does not know which
/// caller has added it. A place also ends after ``placeNanoseconds``, because an admitted caller may add nothing. If the
/// caller arrives again before any operation was added, its earlier place ends at once.
struct AdmissionLine {
  /// Identifies the thread or task of a caller.
  typealias Caller = UInt64

  /// The time after which the place of a caller that has added no operation ends. Only tests change it.
  var placeNanoseconds: Int64 = 1_000_000_000

  private struct Entry {
    let waiter: any Waiter
    let limit: Int
    let caller: Caller
  }

  private struct Place {
    /// The serial number of the caller's arrival.
    let number: Int
    let caller: Caller
    /// The number of operations that had been added to the queue when the caller was admitted.
    let additionCount: Int
    /// The time of the monotonic clock at which the place ends.
    let end: Int64
  }

  /// The waiting callers by the serial numbers of their arrival.
  private var entries: [Int: Entry] = [:]
  /// The serial number of the first waiting caller, if there is one. No smaller number waits.
  private var first = 0
  private var next = 0
  /// The places of admitted callers, in the order in which they end.
  private var places: [Place] = []
  /// Whether the owner of the line was asked to call ``timeHasPassed(_:)``, and has not called it yet.
  private var hasTimer = false

  /// Whether callers wait.
  var isWaiting: Bool { !entries.isEmpty }

  /// The number of waiting callers.
  var waitingCount: Int { entries.count }

  /// Whether admitted callers hold places.
  var hasPlaces: Bool { !places.isEmpty }

  /// The number of places that admitted callers hold.
  var placeCount: Int { places.count }

  /// Handles the arrival of a caller.
  ///
  /// - Parameters:
  ///   - waiter: Woken when the caller is admitted.
  ///   - limit: The caller is admitted when fewer operations and places than this number exist.
  ///   - caller: The thread or task.
  ///   - counts: The number of unfinished operations, and of all operations that were ever added.
  ///   - now: The time of the monotonic clock.
  /// - Returns: `nil` if the caller was admitted at once. Otherwise the serial number of the arrival, and the caller
  ///   waits in the line.
  mutating func arrive(
    _ waiter: any Waiter, limit: Int, _ caller: Caller, _ counts: QueueSnapshot.Counts, now: Int64
  ) -> Int? {
    // If no operation was added since the caller was admitted, no place was taken since then, and the place is the
    // caller's own.
    places.removeAll {
      $0.end <= now || $0.caller == caller && $0.additionCount == counts.total
    }
    let entry = Entry(waiter: waiter, limit: max(1, limit), caller: caller)
    defer { next += 1 }
    if entries.isEmpty, counts.unfinished + places.count < entry.limit {
      hold(next, for: entry, counts, now)
      return nil
    }
    if entries.isEmpty { first = next }
    entries[next] = entry
    return next
  }

  /// Handles that a caller no longer waits, because its task was cancelled. If it was admitted meanwhile, its place
  /// ends. If another caller's operation has taken that place, the other caller's place ends by its time.
  ///
  /// - Parameter number: The serial number of the caller's arrival.
  mutating func leave(_ number: Int) {
    if entries.removeValue(forKey: number) == nil { places.removeAll { $0.number == number } }
  }

  /// Handles that an operation was added to the queue and is now counted: it takes the oldest place.
  mutating func operationWasAdded() {
    if !places.isEmpty { places.removeFirst() }
  }

  /// Admits the callers at the front of the line for which there is room.
  ///
  /// - Returns: The waiters to wake, in the order of arrival.
  mutating func admit(
    _ counts: QueueSnapshot.Counts, now: @autoclosure () -> Int64
  ) -> [any Waiter] {
    var admitted: [any Waiter] = []
    while !entries.isEmpty {
      guard let entry = entries[first] else {
        // This caller has left the line.
        first += 1
        continue
      }
      guard counts.unfinished + places.count < entry.limit else { break }
      entries[first] = nil
      hold(first, for: entry, counts, now())
      first += 1
      admitted.append(entry.waiter)
    }
    return admitted
  }

  private mutating func hold(
    _ number: Int, for entry: Entry, _ counts: QueueSnapshot.Counts, _ now: Int64
  ) {
    places.append(
      Place(
        number: number, caller: entry.caller, additionCount: counts.total,
        end: now + placeNanoseconds))
  }

  /// Returns the time at which the owner of the line must call ``timeHasPassed(_:)``, because callers wait for places
  /// that may end; `nil` if no call is necessary, or if the owner was asked for a call before.
  mutating func takeTimer() -> Int64? {
    guard !hasTimer, !entries.isEmpty, let end = places.first?.end else { return nil }
    hasTimer = true
    return end
  }

  /// Ends the places whose time has passed. The owner then calls ``admit(_:now:)``.
  mutating func timeHasPassed(_ now: Int64) {
    hasTimer = false
    places.removeAll { $0.end <= now }
  }

  /// Removes all callers from the line, because the queue was closed.
  ///
  /// - Returns: The waiters to wake, in the order of arrival.
  mutating func close() -> [any Waiter] {
    defer {
      entries = [:]
      places = []
    }
    return entries.sorted { $0.key < $1.key }.map(\.value.waiter)
  }
}
