// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import Synchronization

/// The threads of all queues.
///
/// Own threads rather than Dispatch's, because a queue of width N must really run N operations that
/// block, and because they can be named after the queue that they serve.
final class WorkerPool: Sendable {
  static let shared = WorkerPool(processorCount: sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  private let state: Locked<WorkerPoolState>
  /// Copies of the state's answers, for workers that look between two operations.
  private let hasWaiting = Atomic<Bool>(false)
  private let isOverBudget = Atomic<Bool>(false)

  init(processorCount: Int) {
    state = Locked(WorkerPoolState(processorCount: processorCount))
  }

  /// Gives the queue one more worker, now or when its turn has come.
  ///
  /// - Precondition: The queue's gate has admitted one. The queue is alive during the call.
  func serve(_ queue: QueueCore) {
    // The worker's reference.
    _ = queue.owner.retain()
    let isBudgeted = queue.hasDefaultWidth
    perform(withState { $0.serve(queue, isBudgeted: isBudgeted) })
  }

  /// Runs a block on a thread of its own, at once.
  func run(_ block: @escaping @Sendable () -> Void) {
    perform(withState { $0.run(block) })
  }

  /// Whether a budgeted worker should let another queue have its turn.
  @inline(__always)
  var wantsTurnover: Bool { hasWaiting.load(ordering: .relaxed) }

  @inline(__always)
  var wantsFewerWorkers: Bool { isOverBudget.load(ordering: .relaxed) }

  // MARK: Workers

  func worker(_ worker: Worker, isBudgeted: Bool) {
    withState { $0.worker(worker, isBudgeted: isBudgeted) }
  }

  func giveBack() -> QueueCore? { withState { $0.giveBack() } }
  func park(_ worker: Worker) { perform(withState { $0.park(worker) }) }

  /// The worker's thread ends while it has a job.
  func lose(_ worker: Worker) { perform(withState { $0.lose(worker) }) }

  func dismiss(_ worker: Worker) -> Bool { withState { $0.dismiss(worker) } }

  // MARK: State

  private func withState<Result>(_ body: (inout WorkerPoolState) -> Result) -> Result {
    let (result, mustSample) = state.withLock { state in
      let result = body(&state)
      hasWaiting.store(!state.waiting.isEmpty, ordering: .relaxed)
      isOverBudget.store(state.isOverBudget, ordering: .relaxed)
      return (result, state.beginSampling())
    }
    if mustSample { startSampler() }
    return result
  }

  private func perform(_ action: WorkerPoolState.Action) {
    switch action {
    case .nothing: return
    case .wake(let worker, let job): worker.assign(job)
    case .start(let job): start(job)
    }
  }

  private func start(_ job: WorkerPoolState.Job) {
    if Worker.start(in: self, with: job) { return }
    // No more threads to be had: a queue waits until a worker is free, a block runs here.
    if case .run(let block) = job { return block() }
    withState { $0.startFailed(job) }
  }

  // MARK: Sampler

  private func startSampler() {
    let pool = Unmanaged.passUnretained(self).toOpaque()
    // Without a sampler blocked workers are not made up for; the next request tries again.
    let error = csystem_start_thread(samplerMain, pool)
    if error != 0 { state.withLock { $0.samplerDidNotStart() } }
  }

  /// Looks every 10 ms, for as long as it takes, how many workers are blocked in the kernel.
  ///
  /// Where all of them are, those that it adds will probably be so too: then it looks again after
  /// 1 ms, so that a hundred sleepers are not kept waiting for each other.
  fileprivate func sample() {
    csystem_set_thread_name("opq-sampler")
    let never = Atomic<UInt32>(0)
    var goesOn = true
    var interval: Int64 = 10_000_000
    while goesOn {
      withUnsafePointer(to: never) { _ = csystem_futex_wait($0, 0, interval) }
      let workers = state.withLock { Array($0.budgeted.values) }
      let blockedCount = workers.count { $0.isBlocked }
      interval = blockedCount == workers.count ? 1_000_000 : 10_000_000
      let (actions, more) = withState { $0.sampled(blockedCount: blockedCount) }
      for action in actions { perform(action) }
      goesOn = more
    }
  }
}

/// The sampler's thread; the pool is never destroyed while it runs, being shared by the process.
private func samplerMain(_ pool: UnsafeMutableRawPointer) {
  Unmanaged<WorkerPool>.fromOpaque(pool).takeUnretainedValue().sample()
}
