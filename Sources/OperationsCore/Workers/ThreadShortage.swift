// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The queues, tasks and pools that wait because the system did not start a thread, while no thread of the
/// pool tries again to start one.
///
/// This happens if the system did not start the sampler either, which is the thread that tries
/// again. In that case, threads that use the pool try again, and so do threads that wait for an
/// operation or a queue. If a task waits for an operation or a queue, another task tries again.
enum ThreadShortage {
  private struct Waiting {
    /// The queues without a thread, with a reference to the public object of each queue.
    var queues: [UnsafeMutableRawPointer: Unmanaged<QueueCore>] = [:]
    /// The pools without a sampler, which is the thread that tries again to start threads.
    var pools: [ObjectIdentifier: WorkerPool] = [:]
    /// The tasks without a thread, with a reference to the executor of each task.
    var tasks: [(job: UnownedJob, queue: Unmanaged<QueueCore>)] = []
    var isEmpty: Bool { queues.isEmpty && pools.isEmpty && tasks.isEmpty }
  }

  private static let waiting = Locked(Waiting())
  private static let isPresent = Atomic<Bool>(false)
  /// The number of tasks that wait for something in this library.
  private static let waitingTaskCount = Atomic<Int>(0)
  private static let hasRetryingTask = Atomic<Bool>(false)
  private static let interval: Int64 = 10_000_000
  /// The interval at which a waiting thread checks whether threads are missing, if none was missing
  /// when it began to sleep.
  private static let longInterval: Int64 = 5_000_000_000

  /// Whether any queue or pool waits for a thread.
  static var exists: Bool { isPresent.load(ordering: .relaxed) }

  /// Adds a queue without a thread. This method takes over the caller's reference to the public
  /// object of the queue.
  static func add(_ queue: Unmanaged<QueueCore>) {
    let isNew = change { $0.queues.updateValue(queue, forKey: queue.toOpaque()) == nil }
    if !isNew { queue._withUnsafeGuaranteedRef { $0.owner }.release() }
  }

  /// Adds a task without a thread. This method takes over the caller's reference to the queue.
  static func add(_ job: UnownedJob, _ queue: Unmanaged<QueueCore>) {
    // The task counts as a waiting task, so that another task tries again.
    waitingTaskCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    change { $0.tasks.append((job, queue)) }
  }

  /// Adds a pool whose sampler, the thread that tries again to start threads, is missing.
  static func add(_ pool: WorkerPool) { change { $0.pools[ObjectIdentifier(pool)] = pool } }

  /// Requests the missing threads again. Queues and pools that still have no thread are added
  /// again.
  static func retry() {
    guard exists else { return }
    let taken = change { waiting in
      defer { waiting = Waiting() }
      return waiting
    }
    for pool in taken.pools.values { pool.retry() }
    for (job, queue) in taken.tasks {
      taskEndedWaiting()
      queue._withUnsafeGuaranteedRef { $0.pool.resume(job, on: $0) }
      queue.release()
    }
    for queue in taken.queues.values {
      queue._withUnsafeGuaranteedRef {
        $0.withScheduler { _, _ in }
        $0.releaseOwner()
      }
    }
  }

  /// Puts the calling thread to sleep while the word at `address` has the value `value`. The
  /// function may return early.
  static func wait(_ address: UnsafeRawPointer, while value: UInt32) {
    if !csystem_futex_wait(address, value, exists ? interval : longInterval) { retry() }
  }

  // MARK: Tasks

  /// Counts a task that waits without blocking a thread. Each call is paired with a call of
  /// ``taskEndedWaiting()``.
  static func taskBeganWaiting() {
    waitingTaskCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    retryInTaskIfNeeded()
  }

  static func taskEndedWaiting() {
    waitingTaskCount.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Starts a task that tries again to start threads, if a task waits. If no task waits, the
  /// program may use no tasks, and Swift would need a new thread for this one.
  private static func retryInTaskIfNeeded() {
    // The two flags and the count are accessed with sequential consistency. If a shortage of
    // threads and the wait of a task begin at the same time on two threads, at least one of the
    // threads detects the other's change.
    guard isPresent.load(ordering: .sequentiallyConsistent),
      waitingTaskCount.load(ordering: .sequentiallyConsistent) > 0,
      !hasRetryingTask.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    Task.detached {
      while exists, waitingTaskCount.load(ordering: .relaxed) > 0 {
        try? await Task.sleep(nanoseconds: UInt64(interval))
        retry()
      }
      hasRetryingTask.store(false, ordering: .sequentiallyConsistent)
      retryInTaskIfNeeded()
    }
  }

  @discardableResult
  private static func change<Result>(_ body: (inout Waiting) -> Result) -> Result {
    let result = waiting.withLock { waiting in
      let result = body(&waiting)
      isPresent.store(!waiting.isEmpty, ordering: .sequentiallyConsistent)
      return result
    }
    retryInTaskIfNeeded()
    return result
  }
}
