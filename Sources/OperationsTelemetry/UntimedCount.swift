// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Counts the operations of one queue that are over and of which neither the wait nor the run is known.
///
/// These are the ones that the queue has counted and nobody has reported. A report may come later than
/// the count, but none of what was counted by one reading comes after those of the next.
///
/// One for each queue: what is reported and was never counted, since its queue is gone, would hide what
/// another one is missing.
struct UntimedCount {
  private var completed = 0
  private var reported = 0
  private var told = 0
  /// What had been counted, and what reported, at the last reading.
  private var last = (completed: 0, reported: 0)

  /// Whether nothing is to be told, now or where nothing else comes.
  var isSettled: Bool { completed - reported <= told }

  /// Whether anything has come since the last reading.
  var hasNews: Bool { last != (completed, reported) }

  /// The queue has counted so many more.
  mutating func note(completed count: Int) { completed += count }

  /// One of them has been reported.
  mutating func noteReport() { reported += 1 }

  /// Another reading has come.
  ///
  /// - Returns: How many more are missing for good than at the last call.
  mutating func endReading() -> Int {
    defer { last = (completed, reported) }
    return tell(last.completed - reported)
  }

  /// - Returns: How many more are missing where no report follows.
  mutating func settle() -> Int { tell(completed - reported) }

  private mutating func tell(_ count: Int) -> Int {
    defer { told = max(told, count) }
    return max(0, count - told)
  }
}
