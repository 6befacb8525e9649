// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest sizes that this model survives in reasonable time.
enum Limits {
  /// Of what is linked to a few others.
  static let links = Int.max
  /// Of one that is linked to all.
  static let fans = Int.max
  /// Of operations with a barrier among each thousand.
  static let barriers = Int.max
  /// Of operations that sleep.
  static let sleepers = Int.max
}
