// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// A gate at which threads wait until it is opened permanently.
final class Latch: Sendable {
  private let isOpen = Atomic<UInt32>(0)

  /// Opens the gate permanently, and wakes all waiting threads.
  func open() {
    isOpen.store(1, ordering: .releasing)
    withUnsafePointer(to: isOpen) { csystem_futex_wake($0, Int32.max) }
  }

  /// Blocks the calling thread until the gate is open.
  func wait() {
    while isOpen.load(ordering: .acquiring) == 0 {
      withUnsafePointer(to: isOpen) { ThreadShortage.wait($0, while: 0) }
    }
  }
}

extension Latch: Waiter {
  func wake() { open() }
}
