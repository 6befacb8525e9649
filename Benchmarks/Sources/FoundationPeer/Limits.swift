// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest sizes that this model survives in reasonable time.
enum Limits {
  /// For operations that depend on each other: the time for each grows with their number, and a
  /// chain of some 30,000 overflows the stack as it is released.
  static let links = 10_000
}
