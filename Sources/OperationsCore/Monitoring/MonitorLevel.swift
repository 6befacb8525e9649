// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Whether anybody wants more than counts, for the whole process: one relaxed load and a branch.
///
/// A reader that sees the old value errs on neither side: what it does not describe, the queue's
/// first scan describes; what it describes in vain is dropped.
enum MonitorLevel {
  private static let level = Atomic<Int>(0)

  @inline(__always)
  static var isOn: Bool { level.load(ordering: .relaxed) != 0 }

  static func raise() { level.wrappingAdd(1, ordering: .relaxed) }
  static func lower() { level.wrappingSubtract(1, ordering: .relaxed) }
}
