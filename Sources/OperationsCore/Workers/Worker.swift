// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// One thread of the pool. The thread sleeps until it has a request, serves the request, and sleeps
/// again. It ends after it has been idle for five seconds.
final class Worker: Sendable {
  private static let idleNanoseconds: Int64 = 5_000_000_000
  /// The number of checks for new work that a worker makes before it sleeps, if new work has
  /// arrived twice in a row just after a shorter search had ended.
  private static let longSearch = 600
  private static let shortSearch = 30
  /// The time limit of a near miss. A search is a near miss if new work arrives within this time
  /// after its end, so that a longer search would have found the work.
  private static let soonNanoseconds: Int64 = 50_000
  /// A thread gets a new name when it serves another queue, unless it served the previous queue for
  /// less than this time: a new name costs a system call, which takes longer than a short
  /// operation.
  private static let namingNanoseconds: Int64 = 20_000
  /// The number of operations of a queue after which a worker serves another queue that waits for a
  /// thread.
  static let turn = 64

  let pool: WorkerPool
  private let request: Locked<WorkerPoolState.Request?>
  /// The value of `hasRequest` of a worker that must end.
  private static let ending: UInt32 = 2
  /// 1 if the worker has received a request that it has not begun to serve; ``ending`` if it must end;
  /// otherwise 0.
  private let hasRequest = Atomic<UInt32>(1)
  let threadID = Atomic<Int32>(0)
  /// The number of starts and ends of operations and blocks on this thread. The number is odd while
  /// an operation or a block runs. Written only by this thread.
  private let stepCount = Atomic<UInt64>(0)
  /// The queue that this thread serves and keeps alive.
  private let served = Atomic<Unmanaged<QueueCore>?>(nil)
  /// Whether the worker serves a request of the `own` lane: a queue with its own width, or blocks.
  /// Written only by this thread.
  let isInOwnLane = Atomic<Bool>(false)
  /// The operation that this thread has started and keeps alive; `nil` if no operation runs, or if
  /// the operation was started without a check.
  let started = Locked<Unmanaged<Operation>?>(nil)
  /// Whether the operation of ``started`` has finished and is being released.
  let isReleasing = Atomic<Bool>(false)
  /// Whether the worker stands aside; see ``SteppingAside``.
  let isAside = Atomic<Bool>(false)
  /// The number of checks for work before this thread sleeps. Used only by this thread.
  private let searchLimit = Atomic<Int>(Worker.shortSearch)
  /// Whether new work arrived just after this thread's last search for work had ended (a near
  /// miss). Used only by this thread.
  private let hasJustMissed = Atomic<Bool>(false)

  /// The id of the queue after which this thread is named; 0 if there is none. Used only by this thread.
  private let namedQueue = Atomic<UInt64>(0)

  private let background: Atomic<Bool>
  /// Whether the thread has lowered its scheduling priority. Used only by this thread.
  private let hasLowered = Atomic<Bool>(false)
  private let granted = Atomic<Bool>(true)
  private let countedBlocked = Atomic<Bool>(false)
  let lastProcessorTime = Atomic<Int64>(-1)
  let lastChange = Atomic<Int64>(0)
  let lingering = Lingering()

  init(pool: WorkerPool, request: sending WorkerPoolState.Request) {
    self.pool = pool
    background = Atomic(request.lane.isBackground)
    self.request = Locked(request)
  }

  /// Whether the worker serves a request. Written under the pool's lock.
  var isGranted: Bool {
    get { granted.load(ordering: .relaxed) }
    set { granted.store(newValue, ordering: .relaxed) }
  }

  /// Whether the thread has or will get a low scheduling priority, and serves only background queues. Becomes
  /// `true` under the pool's lock, and never `false` again.
  @inline(__always)
  var isInBackground: Bool {
    get { background.load(ordering: .relaxed) }
    set { background.store(newValue, ordering: .relaxed) }
  }

  /// Whether the pool counts the worker as blocked. Written under the pool's lock.
  var isCountedBlocked: Bool {
    get { countedBlocked.load(ordering: .relaxed) }
    set { countedBlocked.store(newValue, ordering: .relaxed) }
  }

  /// The number of starts and ends of operations on this thread.
  var progress: UInt64 { stepCount.load(ordering: .relaxed) }

  /// Gives a sleeping worker its next request.
  func assign(_ next: WorkerPoolState.Request) {
    request.withLock { $0 = next }
    hasRequest.store(1, ordering: .releasing)
    withUnsafePointer(to: hasRequest) { csystem_futex_wake($0, 1) }
  }

  /// Ends a sleeping worker, which the pool has removed.
  func end() {
    hasRequest.store(Self.ending, ordering: .releasing)
    withUnsafePointer(to: hasRequest) { csystem_futex_wake($0, 1) }
  }

  // MARK: Thread

  fileprivate func main() {
    threadID.store(csystem_thread_id(), ordering: .relaxed)
    csystem_set_thread_name("opq")
    pool.joined(self)
    while waitForRequest() {
      hasRequest.store(0, ordering: .relaxed)
      while let current = request.withLock({ $0 }) {
        isInOwnLane.store(current.lane.isOwn, ordering: .relaxed)
        lowerPriorityIfNeeded()
        switch current.job {
        case .serve(let queue): serve(queue)
        case .run(let blocks): run(blocks.takeRetainedValue())
        case .resume(let job, let queue): resume(job, on: queue)
        }
        guard let next = takeNext(after: current) else { break }
        request.withLock { $0 = next }
      }
    }
  }

  private func lowerPriorityIfNeeded() {
    guard isInBackground, !hasLowered.load(ordering: .relaxed) else { return }
    hasLowered.store(true, ordering: .relaxed)
    _ = csystem_lower_thread_priority()
  }

  private func takeNext(after request: WorkerPoolState.Request) -> WorkerPoolState.Request? {
    // The received request is cleared before the pool can give this worker another request.
    self.request.withLock { $0 = nil }
    return pool.finished(request, by: self)
  }

  /// Handles that an operation has ended the thread, for example with `pthread_exit`, so that the
  /// code of the operation does not return to the worker.
  ///
  /// The operation is left unchanged. Its finish was not reported, so it keeps its slot, like an
  /// asynchronous operation. All other work continues without this thread.
  fileprivate func threadEnded() {
    // The thread-local variables of a thread that an operation has ended point to stack frames that
    // no longer exist.
    csystem_set_current_worker(nil)
    csystem_set_current_release(nil)
    csystem_set_current_misuse(nil)
    csystem_set_current_delivery(nil)
    csystem_set_current_question(nil)
    started.withLock { $0 = nil }
    if let request = request.withLock({ $0.take() }) { pool.lost(self, request) }
    guard let queue = served.load(ordering: .relaxed) else { return }
    let isInOperation = !progress.isMultiple(of: 2)
    if isInOperation { countStep() }
    queue._withUnsafeGuaranteedRef {
      if isInOperation { $0.leave(after: FinishedWork()) }
      $0.owner.release()
    }
  }

  /// Sleeps until the worker receives a request or has been idle for five seconds.
  ///
  /// - Returns: `false` if the worker has received no request and its thread must end.
  private func waitForRequest() -> Bool {
    let known = hasRequest.load(ordering: .acquiring)
    if known != 0 { return known != Self.ending }
    let begin = csystem_monotonic_nanoseconds()
    while hasRequest.load(ordering: .acquiring) == 0 {
      let isInTime = withUnsafePointer(to: hasRequest) {
        csystem_futex_wait($0, 0, Self.idleNanoseconds)
      }
      if !isInTime, pool.dismiss(self) { return false }
    }
    if hasRequest.load(ordering: .acquiring) == Self.ending { return false }
    adjustSearch(isNearMiss: csystem_monotonic_nanoseconds() - begin < Self.soonNanoseconds)
    return true
  }

  /// Adjusts the length of the search. A single near miss may be chance, so the search becomes long
  /// only after the second near miss in a row.
  private func adjustSearch(isNearMiss: Bool) {
    let isSecond = isNearMiss && hasJustMissed.exchange(isNearMiss, ordering: .relaxed)
    if !isNearMiss { hasJustMissed.store(false, ordering: .relaxed) }
    let limit = searchLimit.load(ordering: .relaxed)
    let next = isSecond ? Self.longSearch : isNearMiss ? limit : max(Self.shortSearch, limit / 4)
    searchLimit.store(next, ordering: .relaxed)
  }

  // MARK: Queues

  /// Serves a queue, and then each queue that its operations have handed over to this worker.
  private func serve(_ first: Unmanaged<QueueCore>) {
    var current: Unmanaged<QueueCore>? = first
    var lastChange = Int64.min
    while let queue = current {
      current = queue._withUnsafeGuaranteedRef { queue in
        let now = csystem_monotonic_nanoseconds()
        if lastChange == .min || now - lastChange >= Self.namingNanoseconds { name(after: queue) }
        lastChange = now
        served.store(.passUnretained(queue), ordering: .relaxed)
        let next = startOperations(of: queue, at: now)
        served.store(nil, ordering: .relaxed)
        return next
      }
      if current != nil, queue._withUnsafeGuaranteedRef({ $0.releaseOwnerIfHeld() }) { continue }
      // The release of the last reference to the queue runs a `deinit` of the user, which may wait
      // for the next queue. So the pool gives the next queue another worker first.
      current.take()?._withUnsafeGuaranteedRef { $0.pool.serveRetained($0) }
      queue._withUnsafeGuaranteedRef { $0.owner }.release()
    }
  }

  /// Starts the queue's operations one after the other, until the queue has no operation for this
  /// worker or another queue should be served. `now` is the present time in nanoseconds.
  ///
  /// - Returns: The queue to serve next, if an operation has handed one over to this worker.
  private func startOperations(of queue: QueueCore, at now: Int64) -> Unmanaged<QueueCore>? {
    var scope = CurrentWork.Scope(operation: nil, servedQueue: .passUnretained(queue))
    scope.acceptsNextQueue = queue.lane.isForOperations
    return CurrentWork.withScope(&scope) { scope in
      var isSearching = true
      var work = FinishedWork()
      var count = 0
      var aside = SteppingAside(at: now)
      let turn = pool.turnNumber
      let isInBackground = isInBackground
      while true {
        if queue.isInBackground != isInBackground {
          leave(queue, after: work, isSearching: isSearching, scope)
          return nil
        }
        let stepsAside = aside.isDue(after: count)
        if let next = queue.takeNext(after: work, takes: !stepsAside, isSearching: &isSearching) {
          if scope.pointee.nextQueue != nil { CurrentWork.passNextQueueOn(scope) }
          work = run(next, of: queue, scope)
          ForkedProcess.check("to return from an operation that called fork()")
          count += 1
          guard mustHandOver(queue, after: count, since: turn, isInBackground) else { continue }
          CurrentWork.passNextQueueOn(scope)
          queue.leave(after: work)
          return nil
        }
        work = FinishedWork()
        if stepsAside {
          if scope.pointee.nextQueue != nil { CurrentWork.passNextQueueOn(scope) }
          stepAside(from: queue, after: count, &aside)
          guard pool.hasWaiting(besides: queue) else { continue }
          leave(queue, after: work, isSearching: isSearching, scope)
          return nil
        }
        if scope.pointee.nextQueue == nil, spinForMail(queue) { continue }
        queue.gate.stopSearching()
        if queue.hasWorkAfterSearch(), queue.gate.claimWorker() { continue }
        // Other waiting queues get a worker before the queue that an operation has handed over.
        if pool.hasWaiting(besides: queue) { CurrentWork.passNextQueueOn(scope) }
        return scope.pointee.nextQueue
      }
    }
  }

  /// Returns whether this thread should serve another queue.
  ///
  /// A waiting request of the queue that this thread serves is not a reason to stop, because this
  /// thread already does that work. Such a request waits whenever a queue has more ready operations
  /// than there are processors.
  @inline(__always)
  private func mustHandOver(
    _ queue: QueueCore, after count: Int, since turn: UInt32, _ isInBackground: Bool
  ) -> Bool {
    if isInBackground { return mustHandOverInBackground(queue, after: count, since: turn) }
    // This thread continues to serve its queue while no request waits, because no other queue needs
    // the thread.
    guard pool.hasWaiting else { return false }
    if pool.wantsFewerWorkers { return true }
    guard count.isMultiple(of: Self.turn) || pool.turnNumber != turn else { return false }
    // A request for the library's own work gets an additional thread if it waits for long. A thread
    // that serves such a queue stops for any waiting request, so that the age of a request shows
    // how long the served requests take.
    return !queue.lane.isForOperations || pool.hasWaiting(besides: queue)
  }

  private func spinForMail(_ queue: QueueCore) -> Bool {
    for _ in 0..<searchLimit.load(ordering: .relaxed) {
      if queue.hasMail { return true }
      if pool.hasWaiting(besides: queue) { return false }
      csystem_spin_hint()
    }
    return false
  }

  /// Starts one operation.
  ///
  /// - Returns: The work for the next critical section.
  @inline(__always)
  private func run(
    _ operation: StartableOperation, of queue: QueueCore,
    _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) -> FinishedWork {
    scope.pointee.operation = operation.reference
    countStep()
    defer {
      countStep()
      scope.pointee.operation = nil
      if isCountedBlocked { wasBlocked() }
    }
    if operation.isPlain { return queue.startPlain(operation, scope) }
    startAsking(operation, of: queue, scope)
    return FinishedWork()
  }

  /// Starts an operation that may need a check before the start. It is stored in `started` during
  /// the call, because it may finish long before its `start()` returns.
  @inline(never)
  private func startAsking(
    _ operation: StartableOperation, of queue: QueueCore,
    _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) {
    started.withLock { $0 = operation.reference }
    _ = queue.start(operation, scope)
    started.withLock { $0 = nil }
    isReleasing.store(true, ordering: .relaxed)
    operation.reference.release()
    isReleasing.store(false, ordering: .relaxed)
  }

  @inline(__always)
  private func countStep() {
    // To increment the number of starts and ends of operations, a load and a store are sufficient,
    // because only this thread writes the number.
    stepCount.store(stepCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Handles that the operation of this thread was blocked at the last check of the sampler, the
  /// thread of the pool that looks for blocked workers.
  ///
  /// If the worker serves a request of the `own` lane (a queue with its own width, or blocks of one
  /// operation), it still counts as blocked during its next operation, until the sampler sees that
  /// the operation uses its processor. Otherwise, if a hundred sleeping operations woke up
  /// together, their queues would have to wait for threads again. This does not apply to a worker
  /// that counted as blocked because its operation had finished without returning.
  @inline(never)
  private func wasBlocked() {
    let hasLingered = lingering.wasLong(at: progress &- 1)
    if hasLingered || !isInOwnLane.load(ordering: .relaxed) { pool.unblock(self) }
  }

  /// Runs a task until it is suspended or ends.
  private func resume(_ job: UnownedJob, on queue: Unmanaged<QueueCore>) {
    queue._withUnsafeGuaranteedRef { queue in
      // The queue's quality of service has changed since the request was made.
      if queue.isInBackground != isInBackground { return pool.resume(job, on: queue) }
      if namedQueue.load(ordering: .relaxed) != queue.id.rawValue { name(after: queue) }
      countStep()
      queue.resume(job)
      countStep()
    }
    queue.release()
  }

  private func run(_ blocks: ExecutionBlocks) {
    namedQueue.store(0, ordering: .relaxed)
    csystem_set_thread_name("opq")
    countStep()
    blocks.help()
    countStep()
  }

  private func name(after queue: QueueCore) {
    namedQueue.store(queue.id.rawValue, ordering: .relaxed)
    let name = queue.scheduler.withLock { $0.name }
    // Linux cuts thread names off after 15 bytes. The default name of a queue would be cut off
    // before the number, which distinguishes two queues.
    "opq-\(name.isEmpty ? "\(queue.id.rawValue)" : name)".withCString {
      csystem_set_thread_name($0)
    }
  }
}

/// Runs the thread of a worker, and then releases the reference to the worker.
func workerMain(_ worker: UnsafeMutableRawPointer) {
  csystem_call_to_end_of_thread(serveToEnd, threadEnded, worker)
  Unmanaged<Worker>.fromOpaque(worker).release()
}

private func serveToEnd(_ worker: UnsafeMutableRawPointer) {
  Unmanaged<Worker>.fromOpaque(worker)._withUnsafeGuaranteedRef { $0.main() }
}

private func threadEnded(_ worker: UnsafeMutableRawPointer) {
  Unmanaged<Worker>.fromOpaque(worker).takeRetainedValue().threadEnded()
}
