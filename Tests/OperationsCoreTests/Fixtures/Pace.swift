// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Makes two threads race: one thread advances a counter, and the other thread spins until the
/// counter has a certain value.
final class Pace: Sendable {
  private let step = Atomic<Int>(0)

  func advance(to next: Int) { step.store(next, ordering: .releasing) }

  /// Spins until the counter has reached a value.
  func await(_ wanted: Int) {
    var looks = 0
    while step.load(ordering: .acquiring) < wanted {
      looks += 1
      if looks.isMultiple(of: 1_000) { sched_yield() }
    }
  }
}

/// A flag that is set at most once.
final class Flag: Sendable {
  private let state = Atomic<Bool>(false)

  func raise() { state.store(true, ordering: .releasing) }

  var isRaised: Bool { state.load(ordering: .acquiring) }
}
