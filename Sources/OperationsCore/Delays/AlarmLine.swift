// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An object that is notified when a time has come.
protocol AlarmTarget: AnyObject, Sendable {
  /// Handles that the time has come. Called outside every lock, on a thread of Swift's runtime, which the
  /// method must not block.
  func alarmRings()
}

/// The alarms on one clock, in the order of their times. At most one task sleeps for all of them.
///
/// A time is the duration since the origin of the clock; see ``AlarmTime``. The line starts no task. Its
/// methods return the time at which a new task must wake up.
struct AlarmLine {
  /// A sleep that the caller must begin. It replaces the sleep of the line that was begun last.
  struct Sleep: Equatable {
    /// The time at which the sleep ends.
    let end: Duration
    /// The serial number of the sleep, which is unique in the process: a sleep of an earlier line of the same clock
    /// never equals a sleep of the present line.
    let number: UInt64

    private static let lastNumber = Atomic<UInt64>(0)

    init(end: Duration) {
      self.end = end
      number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }
  }

  private struct Alarm {
    let target: any AlarmTarget
    let number: UInt64
    let time: Duration
  }

  /// The place of an alarm in the order of times. An alarm that was removed leaves its place behind.
  private struct Place {
    let time: Duration
    let number: UInt64
    let target: ObjectIdentifier

    func isBefore(_ other: Place) -> Bool {
      time == other.time ? number < other.number : time < other.time
    }
  }

  private var alarms: [ObjectIdentifier: Alarm] = [:]
  /// A binary heap: the place with the index `n` is not after the places `2n + 1` and `2n + 2`.
  private var heap: [Place] = []
  private var lastNumber: UInt64 = 0
  /// The sleep that was begun last; `nil` if it has ended.
  private(set) var sleep: Sleep?

  var isEmpty: Bool { alarms.isEmpty }

  /// The number of alarms.
  var count: Int { alarms.count }

  /// The number of stored places, which includes places of removed alarms.
  var placeCount: Int { heap.count }

  /// Returns the time at which an object is notified; `nil` if it has no alarm.
  func time(of target: any AlarmTarget) -> Duration? { alarms[ObjectIdentifier(target)]?.time }

  /// Sets the alarm of an object, and replaces its earlier alarm.
  ///
  /// - Returns: The sleep to begin; `nil` if the present sleep ends early enough.
  mutating func set(_ target: any AlarmTarget, at time: Duration) -> Sleep? {
    lastNumber += 1
    let id = ObjectIdentifier(target)
    alarms[id] = Alarm(target: target, number: lastNumber, time: time)
    insert(Place(time: time, number: lastNumber, target: id))
    return nextSleep()
  }

  /// Removes the alarm of an object. The present sleep is not changed, because a sleep that ends too early
  /// does no harm, and a later alarm may use it.
  ///
  /// - Returns: The object, which the caller releases outside the lock; `nil` if it had no alarm.
  mutating func remove(_ target: any AlarmTarget) -> (any AlarmTarget)? {
    let removed = alarms.removeValue(forKey: ObjectIdentifier(target))
    if alarms.isEmpty {
      heap = []
    } else if heap.count > 64, heap.count > 2 * alarms.count {
      dropRemovedPlaces()
    }
    return removed?.target
  }

  /// Handles the end of a sleep.
  ///
  /// - Parameters:
  ///   - number: The serial number of the sleep. If a later sleep was begun, the call has no effect.
  ///   - now: The time.
  /// - Returns: The objects to notify, the earliest first, and the next sleep to begin.
  mutating func sleepEnded(
    _ number: UInt64, at now: Duration
  ) -> (due: [any AlarmTarget], next: Sleep?) {
    guard sleep?.number == number else { return ([], nil) }
    sleep = nil
    var due: [any AlarmTarget] = []
    while let first = heap.first, first.time <= now {
      removeFirst()
      guard let alarm = alarms[first.target], alarm.number == first.number else { continue }
      alarms[first.target] = nil
      due.append(alarm.target)
    }
    return (due, nextSleep())
  }

  private mutating func nextSleep() -> Sleep? {
    while let first = heap.first, alarms[first.target]?.number != first.number { removeFirst() }
    guard let first = heap.first else { return nil }
    if let sleep, sleep.end <= first.time { return nil }
    let next = Sleep(end: first.time)
    sleep = next
    return next
  }

  // MARK: Heap

  private mutating func dropRemovedPlaces() {
    let kept = heap.filter { alarms[$0.target]?.number == $0.number }
    // A sorted array is a heap.
    heap = kept.sorted { $0.isBefore($1) }
  }

  private mutating func insert(_ place: Place) {
    heap.append(place)
    var index = heap.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].isBefore(heap[parent]) else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      var first = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && heap[child].isBefore(heap[first]) {
        first = child
      }
      if first == index { return }
      heap.swapAt(index, first)
      index = first
    }
  }
}
