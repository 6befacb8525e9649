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
  static let shared = WorkerPool(WorkerConfiguration.fix())

  typealias ThreadBody = @convention(c) (UnsafeMutableRawPointer) -> Void
  /// Starts a detached thread that calls the body with the context, on a stack of so many bytes.
  ///
  /// Returns 0, or the error number of `pthread_create`.
  typealias ThreadStarter = @Sendable (ThreadBody, UnsafeMutableRawPointer, Int) -> Int32

  private let startThread: ThreadStarter
  /// The size of a worker's stack in bytes; 0 is the size that the system gives.
  private let stackSize: Int
  private let state: Locked<WorkerPoolState>
  /// Copies of the state's answers, for workers that look between two operations.
  private let someRequestsWait = Atomic<Bool>(false)
  private let isOverBudget = Atomic<Bool>(false)
  /// Changes at each look of the sampler.
  private let turns = Atomic<UInt32>(0)
  /// 1 if the sampler is called, which rests or sleeps until its next look.
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

  /// Gives the queue one more worker, now or when its turn has come.
  ///
  /// - Precondition: The caller has claimed a worker from the queue's gate. The queue is alive during the call.
  func serve(_ queue: QueueCore) {
    ForkedProcess.check("to run operations of a queue")
    // The worker's reference.
    _ = queue.owner.retain()
    serveRetained(queue)
  }

  /// As ``serve(_:)``, with a reference to the queue's public object that the worker takes over.
  func serveRetained(_ queue: QueueCore) {
    // The width is read under the lock: each change of it comes before this, or finds the request.
    perform(
      withState {
        $0.request(.serve(.passUnretained(queue)), queue.lane, width: queue.currentWidth)
      })
    if ThreadShortage.exists { retry() }
  }

  /// The width of the queue has changed: a request of it that waits may use what the new one allows.
  func widthChanged(_ queue: QueueCore) {
    let actions = withState {
      $0.widthChanged(of: .passUnretained(queue), to: queue.lane, width: queue.currentWidth)
    }
    for action in actions { perform(action) }
  }

  /// Gives the blocks of an operation one more worker, now or when their turn has come.
  func help(_ blocks: ExecutionBlocks) {
    ForkedProcess.check("to run blocks of an operation")
    let blocks = Unmanaged.passRetained(blocks)
    perform(withState { $0.request(.run(blocks), .own) })
  }

  /// All blocks of the operation have begun: what waits to run them is not needed.
  func withdraw(_ blocks: ExecutionBlocks) {
    let blocks = Unmanaged.passUnretained(blocks)
    if withState({ $0.takeRequest(of: .run(blocks)) }) != nil { blocks.release() }
  }

  /// Tries again to start the threads that could not be started.
  func retry() {
    let now = csystem_monotonic_nanoseconds()
    for action in withState({ $0.retry(now: now) }) { perform(action) }
    if state.withLock({ $0.lacksSampler }) { ThreadShortage.add(self) }
  }

  /// Whether a request waits: a worker should let it have its turn.
  @inline(__always)
  var hasWaiting: Bool { someRequestsWait.load(ordering: .relaxed) }

  @inline(__always)
  var wantsFewerWorkers: Bool { isOverBudget.load(ordering: .relaxed) }

  /// While requests wait another number comes every few milliseconds.
  var turnNumber: UInt32 { turns.load(ordering: .relaxed) }

  /// How many threads there are, how many there may be, and how many requests wait for one.
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

  /// What a worker runs is no longer what the sampler has seen.
  func unblock(_ worker: Worker) { withState { $0.unblock(worker) } }

  /// The worker's thread ends while it serves a request.
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

  private func publish(_ state: borrowing WorkerPoolState) {
    let hasWaiting = state.hasWaiting
    if hasWaiting != someRequestsWait.load(ordering: .relaxed) {
      someRequestsWait.store(hasWaiting, ordering: .relaxed)
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
    // The system does not accept this size of the stack.
    return error == EINVAL && stackSize > 0 ? startThread(workerMain, worker, 0) : error
  }

  /// There was no thread that could ever serve these.
  private func strand(_ requests: [WorkerPoolState.Request]) {
    if requests.isEmpty { return }
    for request in requests {
      switch request.job {
      case .serve(let queue):
        // It asks again when it is used.
        queue._withUnsafeGuaranteedRef { $0.gate.stopSearching() }
        ThreadShortage.add(queue)
      case .run(let blocks): blocks.release()
      }
    }
    // A thread that another thread has started meanwhile may have looked at the list before.
    if state.withLock({ $0.threadCount > 0 }) { ThreadShortage.retry() }
  }

  // MARK: Reports

  private func reportLimit() {
    Diagnostic.note(
      .threadLimitReached,
      "all \(threads.limit) threads are in use, and operations that could start wait for one")
  }

  private func reportFailure() {
    guard !hasReportedFailure.exchange(true, ordering: .relaxed) else { return }
    Diagnostic.note(
      .threadNotStarted,
      "a thread could not be started; operations wait for the threads that there are")
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

  /// Looks which workers are blocked in the kernel while requests wait, and rests otherwise.
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

/// The sampler's thread, which keeps the pool alive.
private func samplerMain(_ pool: UnsafeMutableRawPointer) {
  Unmanaged<WorkerPool>.fromOpaque(pool).takeRetainedValue().sample()
}

/// The number of threads of the process's pool, and of the requests that wait for one.
package struct ThreadUse: Sendable, Equatable {
  /// The number of threads, with idle ones.
  package var count: Int
  /// The most threads that operations of queues can use.
  package var limit: Int
  /// How many queues of the program, and block operations with several blocks, wait for a thread.
  package var waitingCount: Int
  /// Whether some of these wait for no other reason than the limit.
  package var isAtLimit: Bool

  /// Creates a value.
  package init(count: Int, limit: Int, waitingCount: Int, isAtLimit: Bool) {
    self.count = count
    self.limit = limit
    self.waitingCount = waitingCount
    self.isAtLimit = isAtLimit
  }

  /// The present use; `nil` before the process has a queue.
  package static var current: ThreadUse? {
    WorkerConfiguration.isFixed ? WorkerPool.shared.threads : nil
  }
}
