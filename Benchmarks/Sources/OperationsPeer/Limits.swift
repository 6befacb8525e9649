// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest sizes that this model completes in reasonable time.
enum Limits {
  /// The limit for operations with a few links each.
  static let links = Int.max
  /// The limit for one operation that is linked to all others.
  static let fans = Int.max
  /// The limit for operations with a barrier in each thousand.
  static let barriers = Int.max
  /// The limit for operations that sleep.
  static let sleepers = Int.max
}
