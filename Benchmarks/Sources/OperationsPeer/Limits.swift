// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest sizes that this model survives in reasonable time.
enum Limits {
  /// For operations that depend on each other.
  static let links = Int.max
}
