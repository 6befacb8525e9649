// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Counts the ended operations of one queue whose slot wait and run time are both unknown.
///
/// These are the operations that the queue has counted and that no report describes. A report may come later
/// than the count, but no report of an operation that one reading has counted comes after the reports of the
/// next reading.
///
/// Each queue has its own count. If a queue is deallocated, its operations may be reported without ever
/// having been counted; in a common count, they would compensate for the missing operations of another queue.
struct UntimedCount {
  private var completed = 0
  private var reported = 0
  private var told = 0
  /// The numbers of counted and reported operations at the last reading.
  private var last = (completed: 0, reported: 0)

  /// Whether there is nothing to report, either now or at the end.
  var isSettled: Bool { completed - reported <= told }

  /// Whether a count or a report has come since the last reading.
  var hasNews: Bool { last != (completed, reported) }

  /// Notes that the queue has counted more operations.
  mutating func note(completed count: Int) { completed += count }

  /// Notes that one of these operations has been reported.
  mutating func noteReport() { reported += 1 }

  /// Ends a reading.
  ///
  /// - Returns: How many operations more than at the last call are missing for good.
  mutating func endReading() -> Int {
    defer { last = (completed, reported) }
    return tell(last.completed - reported)
  }

  /// - Returns: How many more operations are missing if no report follows.
  mutating func settle() -> Int { tell(completed - reported) }

  private mutating func tell(_ count: Int) -> Int {
    defer { told = max(told, count) }
    return max(0, count - told)
  }
}
