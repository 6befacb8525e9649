// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The threads of all queues.
///
/// The library has its own threads instead of Dispatch's, because a queue of width N must be able
/// to execute N blocking operations, and because a thread of the library can be named after its
/// queue.
final class WorkerPool: Sendable {
  static let shared = WorkerPool(WorkerConfiguration.fix())

  typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer) -> Void
  /// Starts a detached thread. The parameters are the function that the thread calls, the argument
  /// of this function, and the size of the thread's stack in bytes.
  ///
  /// Returns 0, or the error number of `pthread_create`.
  typealias ThreadStarter = @Sendable (ThreadBody, UnsafeMutableRawPointer, Int) -> Int32

  private let startThread: ThreadStarter
  /// The size of a worker's stack in bytes; 0 for the default of the system.
  private let stackSize: Int
  private let state: Locked<WorkerPoolState>
  /// Copies of `waitingSummary`, `backgroundSummary` and `isOverBudget` of the state. Workers read them without the
  /// lock, between two operations.
  private let waitingSummary = Atomic<UInt>(0)
  private let backgroundSummary = Atomic<UInt>(0)
  private let isOverBudget = Atomic<Bool>(false)
  /// A number that changes at each check of the sampler, the thread that looks for blocked workers.
  private let turns = Atomic<UInt32>(0)
  /// 1 if the sampler, the thread that looks for blocked workers, must check now; otherwise 0. The
  /// sampler sleeps until its next check is due or this value becomes 1.
  private let bell = Atomic<UInt32>(0)
  private let hasReportedFailure = Atomic<Bool>(false)
  /// Requests for which the sampler must start threads.
  private let delayedStarts = Locked<[WorkerPoolState.Request]>([])

  init(
    _ configuration: WorkerPoolConfiguration,
    startThread: @escaping ThreadStarter = { csystem_start_thread_with_stack($0, $1, $2) }
  ) {
    self.startThread = startThread
    stackSize = configuration.stackSize
    state = Locked(WorkerPoolState(configuration))
  }

  /// Requests another worker for the queue. If no worker is available, the request waits.
  ///
  /// - Precondition: The caller has claimed a worker from the queue's gate. The queue is alive
  ///   during the call.
  @inline(__always)
  func serve(_ queue: QueueCore) {
    ForkedProcess.check("to run operations of a queue")
    // The worker that serves the queue owns this reference to the public object, and releases it.
    _ = queue.owner.retain()
    serveRetained(queue)
  }

  /// Requests another worker for the queue. The worker takes over the caller's reference to the
  /// queue's public object.
  func serveRetained(_ queue: QueueCore) {
    let isWaiting = state.withLock {
      $0.waitsBehindOthers(.passUnretained(queue), queue.lane, width: queue.currentWidth)
    }
    if !isWaiting { request(queue) }
    if ThreadShortage.exists { retry() }
  }

  @inline(never)
  private func request(_ queue: QueueCore) {
    // The width is read under the lock. A thread that changes the width has either changed it
    // before this read, or finds the request after it.
    perform(
      withState {
        $0.request(.serve(.passUnretained(queue)), queue.lane, width: queue.currentWidth)
      })
  }

  /// Handles a change of a queue's width or quality of service. The queue's waiting request may now get a
  /// worker that the earlier value did not allow.
  func laneChanged(_ queue: QueueCore) {
    let actions = withState {
      $0.laneChanged(of: .passUnretained(queue), to: queue.lane, width: queue.currentWidth)
    }
    for action in actions { perform(action) }
  }

  /// Requests another worker for the blocks of an operation. If no worker is available, the request
  /// waits.
  func help(_ blocks: ExecutionBlocks) {
    ForkedProcess.check("to run blocks of an operation")
    let lane: WorkerPoolState.Lane = blocks.isInBackground ? .backgroundOwn : .own
    let blocks = Unmanaged.passRetained(blocks)
    perform(withState { $0.request(.run(blocks), lane) })
  }

  /// Removes the waiting request for the blocks of an operation, because all of these blocks have
  /// begun.
  func withdraw(_ blocks: ExecutionBlocks) {
    let blocks = Unmanaged.passUnretained(blocks)
    if withState({ $0.takeRequest(of: .run(blocks)) }) != nil { blocks.release() }
  }

  /// Requests a worker that runs a task until the task is suspended or ends. If no worker is available, the
  /// request waits.
  ///
  /// - Parameters:
  ///   - job: The task.
  ///   - queue: The executor of the task. The request retains it.
  func resume(_ job: UnownedJob, on queue: QueueCore) {
    ForkedProcess.check("to run a task of a queue")
    let retained = Unmanaged.passRetained(queue)
    perform(
      withState { $0.request(.resume(job, retained), queue.lane, width: queue.currentWidth) })
    if ThreadShortage.exists { retry() }
  }

  /// Tries again to start threads that could not be started.
  func retry() {
    let now = csystem_monotonic_nanoseconds()
    for action in withState({ $0.retry(now: now) }) { perform(action) }
    if state.withLock({ $0.lacksSampler }) { ThreadShortage.add(self) }
  }

  /// Whether a request waits for a thread.
  @inline(__always)
  var hasWaiting: Bool { waitingSummary.load(ordering: .relaxed) != 0 }

  /// Whether a request waits that does not belong to `queue`. A worker of `queue` should then serve
  /// that request.
  @inline(__always)
  func hasWaiting(besides queue: QueueCore) -> Bool {
    let waiting = waitingSummary.load(ordering: .relaxed)
    return waiting != 0
      && waiting != WorkerPoolState.Job.serve(.passUnretained(queue)).summary
  }

  /// Whether a request of a background queue waits that does not belong to `queue`.
  func hasWaitingInBackground(besides queue: QueueCore) -> Bool {
    let waiting = backgroundSummary.load(ordering: .relaxed)
    return waiting != 0
      && waiting != WorkerPoolState.Job.serve(.passUnretained(queue)).summary
  }

  @inline(__always)
  var wantsFewerWorkers: Bool { isOverBudget.load(ordering: .relaxed) }

  /// A number that changes at each check of the sampler, which is every few milliseconds while
  /// requests wait.
  var turnNumber: UInt32 { turns.load(ordering: .relaxed) }

  /// The number of threads, their limit, and the number of requests that wait for a thread.
  var threads: ThreadUse {
    state.withLock {
      ThreadUse(
        count: $0.threadCount, limit: $0.threadLimit, waitingCount: $0.waitingOperationsCount,
        isAtLimit: $0.isAtLimit)
    }
  }

  // MARK: Workers

  func joined(_ worker: Worker) {
    withState { $0.joined(worker) }
    ThreadShortage.retry()
  }

  func finished(
    _ request: WorkerPoolState.Request, by worker: Worker
  ) -> WorkerPoolState.Request? {
    if ThreadShortage.exists { ThreadShortage.retry() }
    let (next, action) = withState { $0.finished(request, by: worker) }
    perform(action)
    return next
  }

  /// Records that a worker no longer counts as blocked, because the work that it did at the
  /// sampler's last check has ended.
  func unblock(_ worker: Worker) { withState { $0.unblock(worker) } }

  /// Handles that an operation has ended a worker's thread while the worker served a request.
  func lost(_ worker: Worker, _ request: WorkerPoolState.Request) {
    perform(withState { $0.lost(worker, request) })
  }

  func dismiss(_ worker: Worker) -> Bool { withState { $0.dismiss(worker) } }

  // MARK: State

  private func withState<Result>(_ body: (inout WorkerPoolState) -> Result) -> Result {
    let (result, command, reportsLimit) = state.withLock { state in
      let result = body(&state)
      publish(state)
      return (result, state.samplerCommand(), state.takeLimitReport())
    }
    switch command {
    case .nothing: break
    case .start: startSampler()
    case .wake: ringBell()
    }
    if reportsLimit { reportLimit() }
    return result
  }

  @inline(__always)
  private func publish(_ state: borrowing WorkerPoolState) {
    let waiting = state.waitingSummary
    if waiting != waitingSummary.load(ordering: .relaxed) {
      waitingSummary.store(waiting, ordering: .relaxed)
    }
    let background = state.backgroundSummary
    if background != backgroundSummary.load(ordering: .relaxed) {
      backgroundSummary.store(background, ordering: .relaxed)
    }
    let isOver = state.isOverBudget
    if isOver != isOverBudget.load(ordering: .relaxed) {
      isOverBudget.store(isOver, ordering: .relaxed)
    }
  }

  private func perform(_ action: WorkerPoolState.Action) {
    switch action {
    case .nothing: return
    case .wake(let worker, let request): worker.assign(request)
    case .start(let request): start(request)
    case .replace(let worker, let request):
      worker.end()
      start(request)
    }
  }

  private func start(_ request: WorkerPoolState.Request) {
    // A new thread inherits the scheduling priority of its creator. So if this thread has a low one, the
    // sampler starts the new thread. It exists as long as the pool has threads.
    if csystem_thread_has_low_priority(), state.withLock({ $0.sampler != .none }) {
      delayedStarts.withLock { $0.append(request) }
      return ringBell()
    }
    startHere(request)
  }

  private func startHere(_ request: WorkerPoolState.Request) {
    let worker = Unmanaged.passRetained(Worker(pool: self, request: request))
    if startWorkerThread(worker.toOpaque()) == 0 { return }
    worker.release()
    let now = csystem_monotonic_nanoseconds()
    let (action, stranded) = withState { $0.startFailed(request, now: now) }
    perform(action)
    strand(stranded)
    reportFailure()
  }

  private func startWorkerThread(_ worker: UnsafeMutableRawPointer) -> Int32 {
    let error = startThread(workerMain, worker, stackSize)
    // If the system does not accept this stack size, the thread gets the default size.
    guard csystem_is_invalid_argument(error), stackSize > 0 else { return error }
    return startThread(workerMain, worker, 0)
  }

  /// Handles requests that cannot be served, because the pool has no thread and could not start
  /// one.
  private func strand(_ requests: [WorkerPoolState.Request]) {
    if requests.isEmpty { return }
    for request in requests {
      switch request.job {
      case .serve(let queue):
        // The queue is left without a worker. When a thread uses the queue again, the queue
        // requests another worker.
        queue._withUnsafeGuaranteedRef { $0.gate.stopSearching() }
        ThreadShortage.add(queue)
      case .run(let blocks): blocks.release()
      case .resume(let job, let queue): ThreadShortage.add(job, queue)
      }
    }
    // Another thread may have started a worker since this thread removed the requests. That worker
    // may have read the queues in `ThreadShortage` before this thread added the queues of these
    // requests, so this thread reads `ThreadShortage` again.
    if state.withLock({ $0.threadCount > 0 }) { ThreadShortage.retry() }
  }

  // MARK: Reports

  private func reportLimit() {
    OperationDiagnostic.note(
      .threadLimitReached,
      "all \(threads.limit) threads are in use, and ready operations have no thread")
  }

  private func reportFailure() {
    guard !hasReportedFailure.exchange(true, ordering: .relaxed) else { return }
    OperationDiagnostic.note(
      .threadNotStarted,
      "a thread could not be started; operations wait for the existing threads")
  }

  // MARK: Sampler

  private func ringBell() {
    bell.store(1, ordering: .releasing)
    withUnsafePointer(to: bell) { csystem_futex_wake($0, 1) }
  }

  private func startSampler() {
    let pool = Unmanaged.passRetained(self)
    if startThread(samplerMain, pool.toOpaque(), 0) == 0 { return }
    pool.release()
    let now = csystem_monotonic_nanoseconds()
    let stranded = state.withLock { $0.samplerDidNotStart(now: now) }
    ThreadShortage.add(self)
    strand(stranded)
    reportFailure()
  }

  /// Runs the sampler. While requests wait, the sampler regularly checks which workers are blocked
  /// in the kernel. Otherwise, it sleeps.
  fileprivate func sample() {
    csystem_set_thread_name("opq-sampler")
    state.withLock { $0.samplerBegan() }
    var next = WorkerPoolState.Sampling.again(afterNanoseconds: 0)
    while true {
      switch next {
      case .again(let interval):
        withUnsafePointer(to: bell) { _ = csystem_futex_wait($0, 0, interval) }
        bell.store(0, ordering: .relaxed)
      case .rest:
        while bell.exchange(0, ordering: .acquiring) == 0 {
          withUnsafePointer(to: bell) { _ = csystem_futex_wait($0, 0, -1) }
        }
      case .end: return
      }
      for request in delayedStarts.withLock({ requests in
        defer { requests = [] }
        return requests
      }) {
        startHere(request)
      }
      let look = look()
      let (actions, following) = withState { $0.looked(look) }
      turns.wrappingAdd(1, ordering: .relaxed)
      for action in actions { perform(action) }
      next = following
    }
  }

  private func look() -> WorkerPoolState.Look {
    let workers = state.withLock { Array($0.workers.values) }
    var look = WorkerPoolState.Look(now: csystem_monotonic_nanoseconds())
    for worker in workers {
      look.progress &+= worker.progress
      switch worker.condition(now: look.now) {
      case .running: break
      case .blocked: look.blocked.append(worker)
      case .undecided: look.isUndecided = true
      }
    }
    return look
  }
}

/// Runs the sampler's thread, which keeps the pool alive.
private func samplerMain(_ pool: UnsafeMutableRawPointer) {
  Unmanaged<WorkerPool>.fromOpaque(pool).takeRetainedValue().sample()
}

/// The number of the pool's threads, their limit, and the number of requests that wait for a
/// thread.
package struct ThreadUse: Sendable, Equatable {
  /// The number of the pool's threads, including idle ones.
  package var count: Int
  /// The maximum number of threads for operations of queues.
  package var limit: Int
  /// The number of requests that wait for a thread. Each request is for a queue of the program, for a
  /// task on a queue's executor, or for a block operation with several blocks.
  package var waitingCount: Int
  /// Whether a request waits only because the number of threads has reached its limit.
  package var isAtLimit: Bool

  /// Creates a value with the given numbers of threads and requests.
  package init(count: Int, limit: Int, waitingCount: Int, isAtLimit: Bool) {
    self.count = count
    self.limit = limit
    self.waitingCount = waitingCount
    self.isAtLimit = isAtLimit
  }

  /// The present use of threads; `nil` before the process has created a queue.
  package static var current: ThreadUse? {
    WorkerConfiguration.isFixed ? WorkerPool.shared.threads : nil
  }
}
