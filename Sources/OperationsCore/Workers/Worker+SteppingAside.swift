// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Decides when a worker steps aside: when it lets the other workers of its queue execute the operations alone.
///
/// Workers of one queue share its lock, and the memory of operations that depend on each other moves between
/// their processors. If operations take less than about a microsecond, one worker executes them in less time than
/// several workers. So each worker compares the time between two finishes while it works with the time while
/// it stands aside, and does what is faster. Both times are measured, so the decision depends on no property of
/// the machine.
///
/// A worker that stands aside counts as searching. It continues with its queue a few microseconds after the
/// operations begin to take longer.
struct SteppingAside {
  /// The number of operations that a worker executes between two checks. The number doubles after each check
  /// that found no reason to stand aside.
  private static let shortestInterval = 64
  private static let longestInterval = 4_096
  /// If an operation takes this time in nanoseconds or longer, a worker does not stand aside.
  static let longestPace: Int64 = 4_000
  /// The time between two looks at the progress of the other workers, in nanoseconds.
  static let look: Int64 = 4_000
  /// The number of looks after which the worker sleeps between two looks, so that other threads can use the
  /// processor.
  static let looksWithoutSleep = 8
  /// The time in nanoseconds after which the worker works again, to measure the time of all workers.
  static let longestTime: Int64 = 2_000_000

  private var interval = Self.shortestInterval
  /// The number of executed operations at which the next check is due.
  private var dueCount = Self.shortestInterval
  /// When the interval began, in nanoseconds.
  private var begin: Int64

  init(at now: Int64) { begin = now }

  /// Whether a check is due after the worker has executed this number of operations.
  @inline(__always)
  func isDue(after count: Int) -> Bool { count == dueCount }

  /// Returns the time in nanoseconds that an operation of this worker has taken since the last check.
  func pace(at now: Int64) -> Int64 { (now - begin) / Int64(interval) }

  /// Begins the next interval.
  ///
  /// - Parameters:
  ///   - count: The number of operations that the worker has executed.
  ///   - now: The present time in nanoseconds.
  ///   - wasFaster: Whether the other workers were faster alone.
  mutating func checkAgain(after count: Int, at now: Int64, wasFaster: Bool) {
    interval = wasFaster ? Self.shortestInterval : min(2 * interval, Self.longestInterval)
    dueCount = count + interval
    begin = now
  }
}

extension Worker {
  /// Lets the other workers of a queue execute its operations while they are faster without this worker.
  ///
  /// - Precondition: This worker counts as searching, and has passed on the next queue that it was handed.
  @inline(never)
  func stepAside(from queue: QueueCore, after count: Int, _ aside: inout SteppingAside) {
    assert(CurrentWork.scope?.pointee.nextQueue == nil, "another queue would wait")
    let begin = csystem_monotonic_nanoseconds()
    var now = begin
    let pace = aside.pace(at: begin)
    var (executing, ended) = pace < SteppingAside.longestPace ? queue.progress : (0, 0)
    // The time between two finishes while all workers work.
    let sharedPace = pace / Int64(executing + 1)
    var looks = 0
    isAside.store(true, ordering: .relaxed)
    while executing > 0, !isNeeded(besides: queue), now - begin < SteppingAside.longestTime {
      wait(until: now + SteppingAside.look, sleeps: looks >= SteppingAside.looksWithoutSleep)
      let last = (time: now, ended: ended)
      (executing, ended) = queue.progress
      now = csystem_monotonic_nanoseconds()
      guard Int64(ended - last.ended) * sharedPace > now - last.time else { break }
      looks += 1
    }
    isAside.store(false, ordering: .relaxed)
    aside.checkAgain(after: count, at: now, wasFaster: looks > 0)
  }

  /// Whether another queue waits for a worker, or this worker must no longer serve the queue.
  private func isNeeded(besides queue: QueueCore) -> Bool {
    pool.hasWaiting(besides: queue) || pool.wantsFewerWorkers
      || queue.isInBackground != isInBackground
      || isInBackground && pool.hasWaitingInBackground(besides: queue)
  }

  private func wait(until end: Int64, sleeps: Bool) {
    if sleeps { return csystem_sleep_shortly() }
    while csystem_monotonic_nanoseconds() < end {
      for _ in 0..<16 { csystem_spin_hint() }
    }
  }
}

extension QueueCore {
  /// The number of operations that execute, and the number of operations that have left the queue.
  fileprivate var progress: (executing: Int, ended: Int) {
    scheduler.withLock { ($0.counts.executing, $0.counts.finished + $0.counts.cancelled) }
  }
}
