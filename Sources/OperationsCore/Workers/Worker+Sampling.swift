// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension Worker {
  enum Condition { case running, blocked, undecided }

  /// The time without processor use after which the kernel's file about a thread is read.
  private static let standstillNanoseconds: Int64 = 500_000
  /// The time without processor use after which a thread counts as blocked, if the kernel's file
  /// about the thread cannot be read.
  private static let longStandstillNanoseconds: Int64 = 4_000_000

  /// The thread's present condition. Called only by the sampler.
  func condition(now: Int64) -> Condition {
    // A worker that stands aside sleeps, but it continues by itself.
    guard isGranted, !isAside.load(ordering: .relaxed) else { return .running }
    if isLingering { return lingering.isLong(at: progress, now: now) ? .blocked : .running }
    let id = threadID.load(ordering: .relaxed)
    guard let time = ThreadStatus.processorTime(threadID: id) else { return .running }
    let last = lastProcessorTime.exchange(time, ordering: .relaxed)
    let standstill = now - lastChange.load(ordering: .relaxed)
    if time != last {
      lastChange.store(now, ordering: .relaxed)
      let used = time - last
      // If a worker serves a request of the `own` lane (a queue with its own width, or blocks of
      // one operation) and was found blocked, it counts as blocked until it uses much processor
      // time.
      if isCountedBlocked, isInOwnLane.load(ordering: .relaxed), used < standstill / 4 {
        return .blocked
      }
      if used > standstill / 2 || ThreadStatus.isBlocked(threadID: id) == false { return .running }
      // A thread that sleeps most of the time, like a polling loop, counts as blocked.
      return last >= 0 && used < standstill / 4 ? .blocked : .undecided
    }
    if isCountedBlocked { return .blocked }
    if standstill < Self.standstillNanoseconds { return .undecided }
    switch ThreadStatus.isBlocked(threadID: id) {
    case true?: return .blocked
    case false?: return .running
    case nil: return standstill < Self.longStandstillNanoseconds ? .undecided : .blocked
    }
  }

  /// Whether the worker's operation has finished, although its `start()` or a `deinit` has not
  /// returned.
  private var isLingering: Bool {
    isReleasing.load(ordering: .relaxed)
      || started.withLock {
        $0?._withUnsafeGuaranteedRef { $0.status.load(ordering: .acquiring).isFinished } == true
      }
  }
}
