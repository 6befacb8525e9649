// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Counts the starts of a queue during the last period, and decides whether another start is allowed.
///
/// Each start counts for one period after its time. So each period contains at most ``count`` starts,
/// wherever the period begins. A chosen operation counts from the moment at which it is chosen. Its time is
/// recorded later, outside the queue's lock, because the clock may be the user's. The times are durations
/// since an origin.
struct StartCounter {
  let count: Int
  let period: Duration
  /// The number of operations that were chosen and whose times are not recorded yet.
  private var chosenCount = 0
  /// The times at which recorded starts stop counting, in the order in which the starts were recorded. The
  /// times before the index `first` have passed.
  private var ends: [Duration] = []
  private var first = 0

  init(count: Int, period: Duration) {
    self.count = count
    self.period = period
  }

  /// The number of operations that may be chosen now.
  var freeCount: Int { count - chosenCount - (ends.count - first) }

  /// Whether no further operation may be chosen before a time has passed.
  var isReached: Bool { freeCount <= 0 }

  /// The time at which the oldest recorded start stops counting; `nil` if no recorded start counts.
  var nextEnd: Duration? { first < ends.count ? ends[first] : nil }

  /// Counts an operation that was chosen to be started.
  mutating func choose() { chosenCount += 1 }

  /// Handles that a chosen operation does not start.
  mutating func withdraw() { chosenCount = max(0, chosenCount - 1) }

  /// Records the time of the start of a chosen operation.
  ///
  /// If the operation was chosen before this counter was created, the call has no effect.
  mutating func record(at now: Duration) {
    guard chosenCount > 0 else { return }
    expire(at: now)
    chosenCount -= 1
    ends.append(now + period)
  }

  /// Stops counting the starts that are one period old.
  mutating func expire(at now: Duration) {
    while let end = nextEnd, end <= now { first += 1 }
    if first == ends.count {
      ends.removeAll(keepingCapacity: ends.capacity <= 1_024)
      first = 0
    } else if first > 64, first > ends.count / 2 {
      // The array moves fewer times than it removes, so the cost per start is constant.
      ends.removeFirst(first)
      first = 0
    }
  }
}
