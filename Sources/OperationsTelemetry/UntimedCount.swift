// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Counts the ended operations of one queue whose slot wait and run time are both unknown.
///
/// The queue has counted these operations, but the monitor has not reported them. The report of an
/// operation may arrive later than the count, but at the latest with the next reading of the queue.
///
/// Each queue has its own count. If a queue is deallocated, its operations may be reported although
/// they were never counted. In a common count, such operations would hide missing operations of
/// other queues.
struct UntimedCount {
  private var completed = 0
  private var reported = 0
  private var counted = 0
  /// The numbers of counted and of reported operations at the end of the last reading of the queue.
  private var last = (completed: 0, reported: 0)

  /// Whether each ended operation was reported, or was already counted as untimed.
  var isSettled: Bool { completed - reported <= counted }

  /// Whether a count or a report has arrived since the last reading.
  var hasNews: Bool { last != (completed, reported) }

  /// Adds operations that the queue has counted as ended.
  mutating func note(completed count: Int) { completed += count }

  /// Counts a report of an ended operation.
  mutating func noteReport() { reported += 1 }

  /// Ends a reading of the queue.
  ///
  /// - Returns: The number of operations that the monitor will never report, without the operations
  ///   that earlier calls have counted.
  mutating func endReading() -> Int {
    defer { last = (completed, reported) }
    return report(last.completed - reported)
  }

  /// Counts all ended operations without a report as untimed, because no further report is
  /// expected.
  ///
  /// - Returns: The number of operations that this call has counted as untimed.
  mutating func settle() -> Int { report(completed - reported) }

  private mutating func report(_ count: Int) -> Int {
    defer { counted = max(counted, count) }
    return max(0, count - counted)
  }
}
