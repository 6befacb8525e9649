// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The only lock of this module: four bytes, ten nanoseconds, and a system call only under
/// contention.
///
/// It uses `Atomic` because ThreadSanitizer understands atomics. It does not understand
/// `Synchronization.Mutex`, whose slow path is in a library without instrumentation.
struct FutexLock: ~Copyable, Sendable {
  private enum Word {
    static let free: UInt32 = 0
    static let held: UInt32 = 1
    /// Held, and a thread may sleep.
    static let contended: UInt32 = 2
  }

  /// The number of attempts before sleeping, and the most pauses between two of them. Together they
  /// take about as long as the longer critical sections here.
  ///
  /// The pauses double. An attempt takes the lock's cache line from the thread that holds the lock,
  /// so rare attempts let that thread finish sooner.
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

  /// Whether no thread holds it. The changes of earlier holders are visible then.
  ///
  /// This is sequentially consistent, and so is taking the lock. If one thread takes the lock and
  /// then reads a value that this thread has changed before this call, at least one of them sees
  /// the other.
  @inline(__always)
  var isFree: Bool { word.load(ordering: .sequentiallyConsistent) == Word.free }

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
    // From here on, this thread acquires the lock in the contended state, because other threads may
    // sleep too.
    while word.exchange(Word.contended, ordering: .sequentiallyConsistent) != Word.free {
      let limit: Int64 = csystem_is_forked_child() ? 5_000_000_000 : -1
      let isInTime = withUnsafePointer(to: word) { csystem_futex_wait($0, Word.contended, limit) }
      // Critical sections take microseconds, so the thread that holds it is not in this process.
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
/// Inside `withLock`, only move values: no user code, no signal and no other lock, except that an
/// operation's lock may be taken inside its queue's.
// Unchecked because `state` need not be sendable. It is accessible only through `withLock`.
package struct Locked<State>: ~Copyable, @unchecked Sendable {
  // Unchecked for the same reason.
  private final class Box: @unchecked Sendable {
    let lock = FutexLock()
    @exclusivity(unchecked) var state: State
    init(_ state: consuming State) { self.state = state }
  }

  private let box: Box

  /// Creates a value with its own lock.
  package init(_ state: consuming sending State) { box = Box(state) }

  /// Runs `body` on the value while no other thread can access it. Not recursive.
  @inline(__always) @discardableResult
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    box.lock.lock()
    defer { box.lock.unlock() }
    return try body(&box.state)
  }
}

/// A child process that was forked after the pool was created. It has none of the pool's threads.
enum ForkedProcess {
  /// Ends a child process with a message, because it would otherwise wait forever.
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
