// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The one lock of this module: four bytes, ten nanoseconds, and the kernel only where two threads
/// meet.
///
/// It is made of `Atomic` because ThreadSanitizer follows atomics; it does not follow
/// `Synchronization.Mutex`, whose slow path is in a library that is not instrumented.
struct FutexLock: ~Copyable, Sendable {
  private enum Word {
    static let free: UInt32 = 0
    static let held: UInt32 = 1
    /// Held, and somebody may sleep.
    static let contended: UInt32 = 2
  }

  /// How often to look before sleeping: about as long as the critical sections here last.
  private static let spins = 100

  private let word = Atomic<UInt32>(Word.free)

  @inline(__always)
  func lock() {
    let (isFree, _) = word.compareExchange(
      expected: Word.free, desired: Word.held, successOrdering: .sequentiallyConsistent,
      failureOrdering: .relaxed)
    if !isFree { lockContended() }
  }

  /// Whether nobody holds it. What was done by those who have held it is seen then.
  ///
  /// Sequentially consistent, and so is taking the lock: of a thread that takes it and then reads
  /// what this one has changed before it asks here, one sees the other.
  @inline(__always)
  var isFree: Bool { word.load(ordering: .sequentiallyConsistent) == Word.free }

  @inline(__always)
  func unlock() {
    if word.exchange(Word.free, ordering: .releasing) == Word.contended { wakeOne() }
  }

  @inline(never)
  private func lockContended() {
    for _ in 0..<Self.spins {
      csystem_spin_hint()
      if word.load(ordering: .relaxed) == Word.free,
        word.compareExchange(
          expected: Word.free, desired: Word.held, successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed
        ).exchanged
      {
        return
      }
    }
    // From here on this thread takes the lock as contended: it cannot know whether it slept alone.
    while word.exchange(Word.contended, ordering: .sequentiallyConsistent) != Word.free {
      let limit: Int64 = csystem_is_forked_child() ? 5_000_000_000 : -1
      let isInTime = withUnsafePointer(to: word) { csystem_futex_wait($0, Word.contended, limit) }
      // Critical sections take microseconds: the thread that has it is not in this process.
      if !isInTime {
        ForkedProcess.refuse("to use what another thread used when fork() was called")
      }
    }
  }

  @inline(never)
  private func wakeOne() {
    withUnsafePointer(to: word) { csystem_futex_wake($0, 1) }
  }
}

/// A value that can be reached only while its lock is held.
///
/// Inside `withLock`: move values. No user code, no signal, no other lock, but that an operation's
/// may be taken inside its queue's.
// Unchecked because `state` need not be sendable; `withLock` is the only way to it.
package struct Locked<State>: ~Copyable, @unchecked Sendable {
  // Unchecked for the same reason.
  private final class Box: @unchecked Sendable {
    let lock = FutexLock()
    @exclusivity(unchecked) var state: State
    init(_ state: consuming State) { self.state = state }
  }

  private let box: Box

  /// Puts a value behind a lock of its own.
  package init(_ state: consuming sending State) { box = Box(state) }

  /// Runs `body` on the value while no other thread can; not recursive.
  @inline(__always) @discardableResult
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    box.lock.lock()
    defer { box.lock.unlock() }
    return try body(&box.state)
  }
}

/// A child process that was forked after the pool was made. It has none of the pool's threads.
enum ForkedProcess {
  /// Ends a child process with a message, instead of letting it wait for ever.
  @inline(__always)
  static func check(_ action: @autoclosure () -> String) {
    if csystem_is_forked_child() { refuse(action()) }
  }

  @inline(never)
  static func refuse(_ action: String) -> Never {
    fatalError(
      "Operations: a child process tries \(action). After fork() it has none of the threads that run "
        + "operations: call exec, or fork before the first queue is created.")
  }
}
