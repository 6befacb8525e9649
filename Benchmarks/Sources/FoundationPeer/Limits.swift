// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest sizes that this model completes in reasonable time.
enum Limits {
  /// The limit for operations with a few links each. The time of one operation grows with the
  /// number of operations, and releasing a chain of about 30,000 overflows the stack.
  static let links = 10_000
  /// The limit for one operation that is linked to all others. If it runs first, the time grows as
  /// quickly as for `links`.
  static let fans = 10_000
  /// The limit for operations with a barrier in each thousand: 100,000 take 40 seconds.
  static let barriers = 10_000
  /// The limit for operations that sleep: on two processors, 100 take 14 seconds at any width.
  static let sleepers = 100
}
