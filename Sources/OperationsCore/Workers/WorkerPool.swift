// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import Synchronization

/// The threads of all queues.
///
/// The library has its own threads instead of Dispatch's, because a queue of width N must be able
/// to execute N blocking operations, and because they can be named after their queue.
final class WorkerPool: Sendable {
  static let shared = WorkerPool(WorkerConfiguration.fix())

  typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer) -> Void
  /// Starts a detached thread that calls the body with the context, on a stack with a size in
  /// bytes.
  ///
  /// Returns 0, or the error number of `pthread_create`.
  typealias ThreadStarter = @Sendable (ThreadBody, UnsafeMutableRawPointer, Int) -> Int32

  private let startThread: ThreadStarter
  /// The size of a worker's stack in bytes; 0 for the default of the system.
  private let stackSize: Int
  private let state: Locked<WorkerPoolState>
  /// Copies of the state's values, for workers between two operations.
  private let waitingSummary = Atomic<UInt>(0)
  private let isOverBudget = Atomic<Bool>(false)
  /// A number that changes at each check of the sampler.
  private let turns = Atomic<UInt32>(0)
  /// 1 after a wake-up call to the sampler, which sleeps until its next check or until such a call.
  private let bell = Atomic<UInt32>(0)
  private let hasReportedFailure = Atomic<Bool>(false)

  init(
    _ configuration: WorkerPoolConfiguration,
    startThread: @escaping ThreadStarter = { csystem_start_thread_with_stack($0, $1, $2) }
  ) {
    self.startThread = startThread
    stackSize = configuration.stackSize
    state = Locked(WorkerPoolState(configuration))
  }

  /// Requests another worker for the queue, which it gets now or in its turn.
  ///
  /// - Precondition: The caller has claimed a worker from the queue's gate. The queue is alive
  ///   during the call.
  @inline(__always)
  func serve(_ queue: QueueCore) {
    ForkedProcess.check("to run operations of a queue")
    // This reference belongs to the worker.
    _ = queue.owner.retain()
    serveRetained(queue)
  }

  /// Requests a worker, which takes over the caller's reference to the queue's public object.
  func serveRetained(_ queue: QueueCore) {
    let isWaiting = state.withLock {
      $0.waitsBehindOthers(.passUnretained(queue), queue.lane, width: queue.currentWidth)
    }
    if !isWaiting { request(queue) }
    if ThreadShortage.exists { retry() }
  }

  @inline(never)
  private func request(_ queue: QueueCore) {
    // The width is read under the lock: each change of it either comes before this, or finds the
    // request.
    perform(
      withState {
        $0.request(.serve(.passUnretained(queue)), queue.lane, width: queue.currentWidth)
      })
  }

  /// Handles a change of a queue's width: its waiting request may use what the new width allows.
  func widthChanged(_ queue: QueueCore) {
    let actions = withState {
      $0.widthChanged(of: .passUnretained(queue), to: queue.lane, width: queue.currentWidth)
    }
    for action in actions { perform(action) }
  }

  /// Requests another worker for the blocks of an operation, which they get now or in their turn.
  func help(_ blocks: ExecutionBlocks) {
    ForkedProcess.check("to run blocks of an operation")
    let blocks = Unmanaged.passRetained(blocks)
    perform(withState { $0.request(.run(blocks), .own) })
  }

  /// Removes waiting requests for the blocks of an operation, because all of them have begun.
  func withdraw(_ blocks: ExecutionBlocks) {
    let blocks = Unmanaged.passUnretained(blocks)
    if withState({ $0.takeRequest(of: .run(blocks)) }) != nil { blocks.release() }
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

  /// Whether a request other than that of `queue` waits, so that a worker of the queue should give
  /// way.
  @inline(__always)
  func hasWaiting(besides queue: QueueCore) -> Bool {
    let waiting = waitingSummary.load(ordering: .relaxed)
    return waiting != 0
      && waiting != WorkerPoolState.Job.serve(.passUnretained(queue)).summary
  }

  @inline(__always)
  var wantsFewerWorkers: Bool { isOverBudget.load(ordering: .relaxed) }

  /// A number that changes every few milliseconds while requests wait.
  var turnNumber: UInt32 { turns.load(ordering: .relaxed) }

  /// The number of threads, their limit, and the number of requests that wait for one.
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
    return withState { $0.finished(request, by: worker) }
  }

  /// Notes that a worker runs other work than at the sampler's last check.
  func unblock(_ worker: Worker) { withState { $0.unblock(worker) } }

  /// Handles the end of a worker's thread during a request.
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
    }
  }

  private func start(_ request: WorkerPoolState.Request) {
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
    // The system does not accept this stack size.
    return error == EINVAL && stackSize > 0 ? startThread(workerMain, worker, 0) : error
  }

  /// Handles requests that no thread could ever serve.
  private func strand(_ requests: [WorkerPoolState.Request]) {
    if requests.isEmpty { return }
    for request in requests {
      switch request.job {
      case .serve(let queue):
        // The queue requests a worker again when it is used.
        queue._withUnsafeGuaranteedRef { $0.gate.stopSearching() }
        ThreadShortage.add(queue)
      case .run(let blocks): blocks.release()
      }
    }
    // A thread that another thread has started meanwhile may have read the list earlier.
    if state.withLock({ $0.threadCount > 0 }) { ThreadShortage.retry() }
  }

  // MARK: Reports

  private func reportLimit() {
    Diagnostic.note(
      .threadLimitReached,
      "all \(threads.limit) threads are in use, and ready operations wait for one")
  }

  private func reportFailure() {
    guard !hasReportedFailure.exchange(true, ordering: .relaxed) else { return }
    Diagnostic.note(
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

  /// Checks which workers are blocked in the kernel while requests wait, and rests otherwise.
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

/// The number of the pool's threads, and of the requests that wait for one.
package struct ThreadUse: Sendable, Equatable {
  /// The number of threads, including idle ones.
  package var count: Int
  /// The maximum number of threads for operations of queues.
  package var limit: Int
  /// The number of queues of the program, and of block operations with several blocks, that wait
  /// for a thread.
  package var waitingCount: Int
  /// Whether the limit is the only reason why some of these wait.
  package var isAtLimit: Bool

  /// Creates a value.
  package init(count: Int, limit: Int, waitingCount: Int, isAtLimit: Bool) {
    self.count = count
    self.limit = limit
    self.waitingCount = waitingCount
    self.isAtLimit = isAtLimit
  }

  /// The threads that are in use at present; `nil` before the process has created a queue.
  package static var current: ThreadUse? {
    WorkerConfiguration.isFixed ? WorkerPool.shared.threads : nil
  }
}
