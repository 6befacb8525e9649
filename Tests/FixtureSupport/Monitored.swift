// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A value that a lock protects. A thread can wait until the value satisfies a predicate.
// `@unchecked` because `state` is mutable. `state` is accessed only while `mutex` is held.
package final class Monitored<State>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  /// Creates a monitored value with its initial state.
  package init(_ state: State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Changes the value, and wakes all waiting threads, so that they check the value again.
  @discardableResult
  package func change<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// The current value.
  package var value: State {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return state
  }

  /// Blocks the calling thread until the predicate returns `true` or the time has passed. Records
  /// no issue.
  ///
  /// - Parameters:
  ///   - limit: The maximum time in seconds.
  ///   - predicate: Called under the lock after each change. It must not change anything.
  /// - Returns: Whether the predicate returned `true`.
  package func comesTrue(within limit: Int, _ predicate: (State) -> Bool) -> Bool {
    awaitTruth(within: limit, of: predicate).holds
  }

  /// Like ``comesTrue(within:_:)``, but also returns the last value.
  package func awaitTruth(
    within limit: Int, of predicate: (State) -> Bool
  ) -> (holds: Bool, last: State) {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += limit
    pthread_mutex_lock(mutex)
    var isInTime = true
    while isInTime, !predicate(state) {
      isInTime = pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT
    }
    let holds = isInTime || predicate(state)
    let last = state
    pthread_mutex_unlock(mutex)
    return (holds, last)
  }
}

/// The time for which tests wait for an expected event before they fail.
package enum Patience {
  /// The time limit for events, in seconds. It is much longer than any event needs, so that a slow
  /// machine does not cause failures.
  package static let seconds = 30
}

/// Checks a condition repeatedly until it is true or the time limit is over. Other threads can run
/// between two checks.
///
/// Even with a short limit, there are so many checks that other threads have run, also on a busy
/// machine.
///
/// - Parameters:
///   - limit: The maximum time.
///   - pausing: Whether the thread sleeps for 10 ms between two checks. Use this if the check takes time, or if the
///     condition depends on another process, which would otherwise have one processor less.
///   - isSo: The condition.
/// - Returns: Whether the condition was true in time.
package func poll(for limit: Duration, pausing: Bool = false, until isSo: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + limit
  var looks = 0
  while !isSo() {
    looks += 1
    if pausing { usleep(10_000) } else { sched_yield() }
    // The time is read only once in 1,024 checks, because reading it costs more than a check.
    guard pausing || looks.isMultiple(of: 1_024) else { continue }
    if ContinuousClock.now > deadline { return isSo() }
  }
  return true
}
