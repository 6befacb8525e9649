// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Counts the operations that are over and of which neither the wait nor the run is known.
///
/// These are the ones that a queue has counted and nobody has reported. A report may come later than
/// the count: what is missing is missed only if it is after the next update, too.
struct UntimedCount {
  private var completed = 0
  private var reported = 0
  private var lastMissing = 0
  private var told = 0

  /// A queue has counted so many more.
  mutating func note(completed count: Int) { completed += count }

  /// One of them has been reported.
  mutating func noteReport() { reported += 1 }

  /// - Returns: How many more are missing for good than at the last call.
  mutating func endUpdate() -> Int {
    let missing = completed - reported
    defer { lastMissing = missing }
    return tell(min(missing, lastMissing))
  }

  /// - Returns: How many more are missing where no report follows.
  mutating func finish() -> Int { tell(completed - reported) }

  private mutating func tell(_ count: Int) -> Int {
    defer { told = max(told, count) }
    return max(0, count - told)
  }
}
