// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The lock of a ``Locked`` value. It takes four bytes of memory and about ten nanoseconds. It makes a
/// system call only if several threads contend for it.
///
/// It uses `Atomic` because ThreadSanitizer understands atomics. It does not understand
/// `Synchronization.Mutex`, whose slow path is in a library without instrumentation.
struct FutexLock: ~Copyable, Sendable {
  private enum Word {
    static let free: UInt32 = 0
    static let held: UInt32 = 1
    /// The lock is held, and other threads may sleep until it is released.
    static let contended: UInt32 = 2
  }

  /// The number of attempts to acquire the lock before a thread sleeps, and the maximum number of
  /// pauses between two attempts. All attempts together take about as long as the longer critical
  /// sections of this module.
  ///
  /// The number of pauses between two attempts doubles after each attempt, up to the maximum. An
  /// attempt takes the lock's cache line away from the thread that holds the lock. If attempts are
  /// rare, that thread finishes sooner.
  private static let attempts = 12
  private static let mostPauses = 16

  private let word = Atomic<UInt32>(Word.free)

  @inline(__always)
  func lock() {
    let (isFree, _) = word.compareExchange(
      expected: Word.free, desired: Word.held, successOrdering: .sequentiallyConsistent,
      failureOrdering: .relaxed)
    if !isFree { lockContended() }
  }

  @inline(__always)
  func unlock() {
    if word.exchange(Word.free, ordering: .releasing) == Word.contended { wakeOne() }
  }

  @inline(never)
  private func lockContended() {
    var pauses = 1
    for _ in 0..<Self.attempts {
      for _ in 0..<pauses { csystem_spin_hint() }
      pauses = min(2 * pauses, Self.mostPauses)
      if word.load(ordering: .relaxed) == Word.free,
        word.compareExchange(
          expected: Word.free, desired: Word.held, successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed
        ).exchanged
      {
        return
      }
    }
    // When this thread acquires the lock here, it marks the lock as contended, because other
    // threads may sleep too.
    while word.exchange(Word.contended, ordering: .sequentiallyConsistent) != Word.free {
      let limit: Int64 = csystem_is_forked_child() ? ForkedProcess.longestWait : -1
      let isInTime = withUnsafePointer(to: word) { csystem_futex_wait($0, Word.contended, limit) }
      // Critical sections take microseconds. If the time limit has passed, the thread that holds
      // the lock does not exist in this process: the process is a forked child.
      if !isInTime {
        ForkedProcess.refuse("to use data that another thread was using during fork()")
      }
    }
  }

  @inline(never)
  private func wakeOne() {
    withUnsafePointer(to: word) { csystem_futex_wake($0, 1) }
  }
}

/// A value that can be accessed only while its lock is held.
///
/// Code inside `withLock` only moves values. It runs no user code, wakes no thread and acquires no
/// other lock. There is one exception: an operation's lock may be acquired under the lock of its
/// queue.
// Unchecked `Sendable` conformance, because `state` need not be sendable. It is accessible only
// inside `withLock`.
package struct Locked<State>: ~Copyable, @unchecked Sendable {
  // Unchecked `Sendable` conformance, because `state` is accessible only while the lock is held.
  private final class Box: @unchecked Sendable {
    let lock = FutexLock()
    @exclusivity(unchecked) var state: State
    init(_ state: consuming State) { self.state = state }
  }

  private let box: Box

  /// Creates a value with its own lock.
  package init(_ state: consuming sending State) { box = Box(state) }

  /// Runs `body` on the value while no other thread can access it. A thread must not call this
  /// method again inside `body`.
  @inline(__always) @discardableResult
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    box.lock.lock()
    defer { box.lock.unlock() }
    return try body(&box.state)
  }
}

/// Handles child processes that were forked after the pool was created. Such a process has none of
/// the pool's threads.
enum ForkedProcess {
  /// The time in nanoseconds after which the child process concludes that the thread that holds a lock does not
  /// exist. Critical sections take microseconds.
  static let longestWait: Int64 = 5_000_000_000

  /// Ends the process with a message if it is a forked child, because it would otherwise wait
  /// forever.
  @inline(__always)
  static func check(_ action: @autoclosure () -> String) {
    if csystem_is_forked_child() { refuse(action()) }
  }

  @inline(never)
  static func refuse(_ action: String) -> Never {
    fatalError(
      "Operations: a child process tried \(action). After fork() it does not have the threads that "
        + "execute operations. Call exec, or fork before the first queue is created.")
  }
}
