// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import Synchronization

/// One thread of the pool: sleeps until it has a job, serves a queue until that has nothing more
/// for it, sleeps again, and goes away after five idle seconds.
final class Worker: Sendable {
  private static let idleNanoseconds: Int64 = 5_000_000_000
  /// How often to look for new work before giving up: some microseconds, less than a wake-up costs.
  private static let spins = 2_000
  /// After so many operations a queue of default width lets another one have its turn.
  private static let turn = 64

  private let pool: WorkerPool
  private let job: Locked<WorkerPoolState.Job?>
  /// 0 while there is no job.
  private let hasJob = Atomic<UInt32>(1)
  private let threadID = Atomic<Int32>(0)
  /// An operation of the user's is under way.
  private let isRunning = Atomic<Bool>(false)
  /// The queue that this thread serves, which it keeps alive.
  private let served = Atomic<Unmanaged<QueueCore>?>(nil)

  private init(pool: WorkerPool, job: sending WorkerPoolState.Job) {
    self.pool = pool
    self.job = Locked(job)
  }

  /// Starts a thread with its first job. `false` where there are no more threads to be had.
  static func start(in pool: WorkerPool, with job: WorkerPoolState.Job) -> Bool {
    let worker = Unmanaged.passRetained(Worker(pool: pool, job: job))
    if csystem_start_thread(workerMain, worker.toOpaque()) == 0 { return true }
    worker.release()
    return false
  }

  /// Gives a sleeping worker its next job.
  func assign(_ next: WorkerPoolState.Job) {
    job.withLock { $0 = next }
    hasJob.store(1, ordering: .releasing)
    withUnsafePointer(to: hasJob) { csystem_futex_wake($0, 1) }
  }

  /// Whether the user's code that it runs waits in the kernel at this moment.
  var isBlocked: Bool {
    guard isRunning.load(ordering: .relaxed) else { return false }
    return ThreadStatus.isBlocked(threadID: threadID.load(ordering: .relaxed))
  }

  // MARK: Thread

  fileprivate func main() {
    threadID.store(csystem_thread_id(), ordering: .relaxed)
    csystem_set_thread_name("opq")
    while waitForJob() {
      hasJob.store(0, ordering: .relaxed)
      switch job.withLock({ $0.take() }) {
      case .serve(let queue, let isBudgeted): serve(queue, isBudgeted: isBudgeted)
      case .run(let block): block()
      case nil: break
      }
      pool.park(self)
    }
  }

  /// An operation has ended the thread, as `pthread_exit` does: what it ran does not return here.
  ///
  /// The operation is left as it is: nobody has said that it has finished, so that it goes on to
  /// hold its slot, as an asynchronous one does. Everything else goes on without this thread.
  fileprivate func threadEnded() {
    // It points into the stack, and that is gone.
    csystem_set_current_worker(nil)
    pool.lose(self)
    guard isRunning.load(ordering: .relaxed), let queue = served.load(ordering: .relaxed) else {
      return
    }
    isRunning.store(false, ordering: .relaxed)
    queue._withUnsafeGuaranteedRef {
      $0.leave(after: FinishedWork())
      $0.owner.release()
    }
  }

  /// - Returns: `false` where the thread is to end.
  private func waitForJob() -> Bool {
    while hasJob.load(ordering: .acquiring) == 0 {
      let isInTime = withUnsafePointer(to: hasJob) {
        csystem_futex_wait($0, 0, Self.idleNanoseconds)
      }
      if !isInTime, pool.dismiss(self) { return false }
    }
    return true
  }

  // MARK: Queues

  private func serve(_ queue: QueueCore, isBudgeted: Bool) {
    if isBudgeted { pool.worker(self, isBudgeted: true) }
    defer { if isBudgeted { pool.worker(self, isBudgeted: false) } }
    var current: QueueCore? = queue
    while let queue = current {
      name(after: queue)
      served.store(.passUnretained(queue), ordering: .relaxed)
      serve(queue, handsOver: isBudgeted)
      served.store(nil, ordering: .relaxed)
      let owner = queue.owner
      current = isBudgeted ? pool.giveBack() : nil
      owner.release()
    }
  }

  /// Starts the queue's operations one after the other until there is none for this worker.
  ///
  /// - Parameters:
  ///   - queue: The queue, retained by the caller.
  ///   - handsOver: Let other queues have their turn, and leave where there are too many.
  private func serve(_ queue: QueueCore, handsOver: Bool) {
    var frame = CurrentWork.Frame(operation: nil, servedQueue: .passUnretained(queue))
    CurrentWork.withFrame(&frame) { frame in
      var isSearching = true
      var work = FinishedWork()
      var count = 0
      while true {
        if let next = queue.takeNext(after: work, isSearching: isSearching) {
          isSearching = false
          work = run(next, of: queue, frame)
          count += 1
          guard handsOver, mustHandOver(after: count) else { continue }
          return queue.leave(after: work)
        }
        work = FinishedWork()
        if !isSearching {
          isSearching = true
          queue.gate.startSearching()
        }
        if spinForMail(queue) { continue }
        queue.gate.leaveSearching()
        guard queue.hasWorkAfterSearch(), queue.gate.admit() else { return }
      }
    }
  }

  private func mustHandOver(after count: Int) -> Bool {
    pool.wantsFewerWorkers || pool.wantsTurnover && count.isMultiple(of: Self.turn)
  }

  private func spinForMail(_ queue: QueueCore) -> Bool {
    for _ in 0..<Self.spins {
      if queue.hasMail { return true }
      csystem_spin_hint()
    }
    return false
  }

  /// Starts one operation.
  ///
  /// - Returns: What is left to the next critical section.
  @inline(__always)
  private func run(
    _ operation: StartableOperation, of queue: QueueCore,
    _ frame: UnsafeMutablePointer<CurrentWork.Frame>
  ) -> FinishedWork {
    frame.pointee.operation = operation.reference
    isRunning.store(true, ordering: .relaxed)
    defer {
      isRunning.store(false, ordering: .relaxed)
      frame.pointee.operation = nil
    }
    return queue.start(operation)
  }

  private func name(after queue: QueueCore) {
    let name = queue.withScheduler { scheduler, _ in scheduler.name }
    // The default name would be cut off before the number, which alone tells two queues apart.
    "opq-\(name.isEmpty ? "\(queue.id.rawValue)" : name)".withCString {
      csystem_set_thread_name($0)
    }
  }
}

/// A worker's thread.
private func workerMain(_ worker: UnsafeMutableRawPointer) {
  csystem_call_to_end_of_thread(serveToEnd, threadEnded, worker)
  Unmanaged<Worker>.fromOpaque(worker).release()
}

private func serveToEnd(_ worker: UnsafeMutableRawPointer) {
  Unmanaged<Worker>.fromOpaque(worker)._withUnsafeGuaranteedRef { $0.main() }
}

private func threadEnded(_ worker: UnsafeMutableRawPointer) {
  Unmanaged<Worker>.fromOpaque(worker).takeRetainedValue().threadEnded()
}
