// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Whether a collector wants more than counts, for the whole process: one load and a branch.
///
/// A thread that changes a description reads this after the change, and a collector raises it before its
/// first scan. Both are sequentially consistent: either the thread sees the new level, or the scan sees the
/// change. On x86-64 such a load costs no more than a relaxed one.
enum MonitorLevel {
  private static let level = Atomic<Int>(0)

  @inline(__always)
  static var isOn: Bool { level.load(ordering: .sequentiallyConsistent) != 0 }

  static func raise() { level.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  static func lower() { level.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
}
