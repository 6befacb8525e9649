// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

/// Records events of the operations of one run. Every thread may use it.
// `@unchecked` because `tally` is mutable. `tally` is accessed only while `lock` is held.
final class Sightings: @unchecked Sendable {
  /// An event that must happen once for each operation or for each dependent.
  enum Event: Int, CaseIterable, Sendable {
    case work, dependent, completion, observedFinish
  }

  /// For each operation and each dependent, how often each kind of event has happened, and the
  /// detected faults.
  struct Tally: Sendable {
    private var counts = [[UInt8]](repeating: [], count: Event.allCases.count)
    private var isRequired = [[Bool]](repeating: [], count: Event.allCases.count)
    private(set) var outstandingCount = 0
    private(set) var hasBegun: [Bool]
    fileprivate(set) var earlyDependents = 0
    fileprivate(set) var earlyCompletions = 0
    fileprivate(set) var earlyWaits = 0
    fileprivate(set) var faults: [String] = []

    fileprivate init(count: Int) {
      hasBegun = [Bool](repeating: false, count: count)
      for event in Event.allCases {
        counts[event.rawValue] = [UInt8](repeating: 0, count: count)
        isRequired[event.rawValue] = [Bool](repeating: false, count: count)
      }
    }

    fileprivate mutating func require(_ event: Event, of index: Int) {
      isRequired[event.rawValue][index] = true
      outstandingCount += 1
    }

    fileprivate mutating func note(_ event: Event, of index: Int) {
      if counts[event.rawValue][index] == 0, isRequired[event.rawValue][index] {
        outstandingCount -= 1
      }
      counts[event.rawValue][index] &+= 1
    }

    fileprivate mutating func noteBegun(_ index: Int) { hasBegun[index] = true }

    /// Returns the number of operations or dependents for which a required event of this kind has
    /// not happened.
    func lostCount(_ event: Event) -> Int {
      zip(counts[event.rawValue], isRequired[event.rawValue]).count { $0 == 0 && $1 }
    }

    /// Returns the number of operations or dependents for which an event of this kind has happened
    /// more than once.
    func repeatedCount(_ event: Event) -> Int { counts[event.rawValue].count { $0 > 1 } }
  }

  /// A semaphore that is signalled when all required events have happened.
  let isComplete = DispatchSemaphore(value: 0)

  private let lock = ShapeLock()
  private var tally: Tally

  /// Creates a log of events that contains no events yet.
  ///
  /// - Parameter count: The number of operations of the test or the number of their dependents,
  ///   whichever is greater.
  init(count: Int) { tally = Tally(count: count) }

  var value: Tally { lock.withLock { tally } }

  /// Requires that an event happens to an operation or dependent.
  ///
  /// - Precondition: The run has not begun.
  func require(_ event: Event, of index: Int) { lock.withLock { tally.require(event, of: index) } }

  func note(_ event: Event, of index: Int) {
    let isLast = lock.withLock {
      let before = tally.outstandingCount
      tally.note(event, of: index)
      return before > 0 && tally.outstandingCount == 0
    }
    if isLast { isComplete.signal() }
  }

  func noteBegun(_ index: Int) { lock.withLock { tally.noteBegun(index) } }

  func hasBegun(_ index: Int) -> Bool { lock.withLock { tally.hasBegun[index] } }

  func noteEarlyDependent() { lock.withLock { tally.earlyDependents += 1 } }

  func noteEarlyCompletion() { lock.withLock { tally.earlyCompletions += 1 } }

  func noteEarlyWait() { lock.withLock { tally.earlyWaits += 1 } }

  func note(fault: String) { lock.withLock { tally.faults.append(fault) } }
}
