// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The largest numbers of operations that Foundation's queue completes in reasonable time.
enum Limits {
  /// The limit for operations with a few dependencies each. With Foundation, the time of one
  /// operation grows with the number of operations, and releasing a chain of about 30,000
  /// operations overflows the stack.
  static let links = 10_000
  /// The limit for workloads in which one operation depends on all others, or all others depend on
  /// one operation. If this one operation runs first, the time grows as quickly as in the workloads
  /// that `links` limits.
  static let fans = 10_000
  /// The limit for scientific workflows. With Foundation, 10,000 operations of a workflow take 7 to 23
  /// seconds.
  static let workflows = 1_000
  /// The limit for a workload in which every thousandth operation is a barrier. With Foundation,
  /// 100,000 operations of this workload take 40 seconds.
  static let barriers = 10_000
  /// The limit for operations that sleep for a second. With Foundation on two processors, 100 of
  /// these operations take 14 seconds at any width of the queue.
  static let sleepers = 100
}
