// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The lock of an operation. It takes one byte of memory. It is released by a store, which takes much less time
/// than the atomic exchange of ``FutexLock``.
///
/// A thread that waits for the lock is not woken. It repeats its attempts: first at once, then after other threads have
/// used the processor, and then after short times of sleep. So this lock is only for data that few threads use at the
/// same time. For other data, use ``Locked``.
package struct BriefLock: ~Copyable, Sendable {
  /// The number of attempts before the thread lets other threads use the processor.
  private static let attempts = 64

  private let isHeld = Atomic<Bool>(false)

  /// Creates a lock that no thread holds.
  package init() {}

  /// Acquires the lock. A thread that holds it must not call this method.
  @inline(__always)
  package func lock() {
    if !acquire() { lockContended() }
  }

  /// Whether no thread holds the lock. If the value is `true`, the changes that other threads made
  /// under the lock are visible.
  ///
  /// This load is sequentially consistent, and so is the acquisition of the lock. Assume that this
  /// thread writes a value and then reads this property, and that another thread acquires the lock
  /// and then reads the value. Then this thread sees that the lock is held, or the other thread
  /// sees the new value.
  @inline(__always)
  var isFree: Bool { !isHeld.load(ordering: .sequentiallyConsistent) }

  /// Releases the lock, which this thread holds.
  @inline(__always)
  package func unlock() { isHeld.store(false, ordering: .releasing) }

  @inline(__always)
  private func acquire() -> Bool {
    isHeld.compareExchange(
      expected: false, desired: true, successOrdering: .sequentiallyConsistent,
      failureOrdering: .relaxed
    ).exchanged
  }

  @inline(never)
  private func lockContended() {
    for _ in 0..<Self.attempts {
      csystem_spin_hint()
      if !isHeld.load(ordering: .relaxed), acquire() { return }
    }
    // A thread that holds the lock may not run at the moment. It may also not exist, if the process is a forked
    // child.
    let isForkedChild = csystem_is_forked_child()
    let begin = isForkedChild ? csystem_monotonic_nanoseconds() : 0
    var attempt: Int32 = 0
    while isHeld.load(ordering: .relaxed) || !acquire() {
      csystem_yield(attempt)
      attempt = min(attempt + 1, 1_000)
      if isForkedChild, csystem_monotonic_nanoseconds() - begin > ForkedProcess.longestWait {
        ForkedProcess.refuse("to use data that another thread was using during fork()")
      }
    }
  }
}
