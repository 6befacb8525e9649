// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest sizes that this model survives in reasonable time.
enum Limits {
  /// Of what is linked to a few others: the time for each grows with their number, and a chain of
  /// some 30,000 overflows the stack as it is released.
  static let links = 10_000
  /// Of one that is linked to all: when it is the first to run, the time grows as quickly.
  static let fans = 10_000
  /// Of operations with a barrier among each thousand: 100,000 take 40 seconds.
  static let barriers = 10_000
  /// Of operations that sleep: a hundred take 14 seconds on two processors, whatever the width.
  static let sleepers = 100
}
