// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest numbers of operations that this package's queue completes in reasonable time.
enum Limits {
  /// The maximum number of operations in workloads in which each operation has a few dependencies.
  static let links = Int.max
  /// The maximum number of operations in workloads in which one operation depends on all others, or
  /// all others depend on one operation.
  static let fans = Int.max
  /// The maximum number of operations in scientific workflows.
  static let workflows = Int.max
  /// The maximum number of operations in a workload in which every thousandth operation is a barrier.
  static let barriers = Int.max
  /// The limit for operations that sleep.
  static let sleepers = Int.max
}
