// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which threads there are and who waits for one. Pure: guarded by the pool's lock, and what has to
/// be done is returned.
///
/// A queue with a width of its own gets a thread whenever it asks. Queues of default width share a
/// budget, the processor count, and wait in turn for a part of it. Workers that are blocked in the
/// kernel use no processor: the sampler raises what is allowed by their number.
struct WorkerPoolState {
  /// What a thread is to do.
  enum Job {
    /// Serve a queue that is retained for it.
    case serve(QueueCore, isBudgeted: Bool)
    /// Run a block.
    case run(@Sendable () -> Void)
  }

  enum Action {
    case nothing
    case wake(Worker, Job)
    case start(Job)
  }

  let processorCount: Int
  /// Threads that sleep, the last to fall asleep last.
  private(set) var idle: [Worker] = []
  /// Workers that serve queues of default width.
  private(set) var budgeted: [ObjectIdentifier: Worker] = [:]
  /// Granted parts of the budget, those of threads that are not running yet included.
  private(set) var grantedCount = 0
  /// Queues of default width that wait for a worker, the longest wait first.
  private(set) var waiting: [QueueCore] = []
  /// Queues with a width of their own for which no thread could be started, the longest wait first.
  private(set) var threadless: [QueueCore] = []
  /// How many of the budgeted workers were blocked when the sampler looked last.
  private var blockedCount = 0
  private(set) var isSampling = false

  init(processorCount: Int) { self.processorCount = max(1, processorCount) }

  private var allowedCount: Int { processorCount + blockedCount }

  /// Whether the sampler has something to watch over.
  var needsSampling: Bool {
    !waiting.isEmpty || !threadless.isEmpty || grantedCount > processorCount
  }

  /// Whether a worker should give up its part of the budget at the next opportunity.
  var isOverBudget: Bool { grantedCount > allowedCount }

  // MARK: Jobs

  private mutating func employ(_ job: Job) -> Action {
    if let worker = idle.popLast() { return .wake(worker, job) }
    return .start(job)
  }

  mutating func run(_ block: @escaping @Sendable () -> Void) -> Action { employ(.run(block)) }

  mutating func serve(_ queue: QueueCore, isBudgeted: Bool) -> Action {
    guard isBudgeted else { return employ(.serve(queue, isBudgeted: false)) }
    guard grantedCount < allowedCount else {
      waiting.append(queue)
      return .nothing
    }
    grantedCount += 1
    return employ(.serve(queue, isBudgeted: true))
  }

  /// A thread could not be started.
  mutating func startFailed(_ job: Job) {
    guard case .serve(let queue, let isBudgeted) = job else { return }
    if isBudgeted {
      grantedCount -= 1
      waiting.append(queue)
    } else {
      threadless.append(queue)
    }
  }

  /// What a thread more would do, if there is something.
  private mutating func nextJob() -> Job? {
    if !threadless.isEmpty { return .serve(threadless.removeFirst(), isBudgeted: false) }
    guard !waiting.isEmpty, grantedCount < allowedCount else { return nil }
    grantedCount += 1
    return .serve(waiting.removeFirst(), isBudgeted: true)
  }

  mutating func worker(_ worker: Worker, isBudgeted: Bool) {
    budgeted[ObjectIdentifier(worker)] = isBudgeted ? worker : nil
  }

  /// A worker gives back its part of the budget. Returns the queue that it is to serve next, if one
  /// has waited for it.
  mutating func giveBack() -> QueueCore? {
    guard !waiting.isEmpty, grantedCount <= allowedCount else {
      grantedCount -= 1
      return nil
    }
    return waiting.removeFirst()
  }

  /// A worker has nothing to do. It may be the only thread that a queue can have.
  mutating func park(_ worker: Worker) -> Action {
    if let job = nextJob() { return .wake(worker, job) }
    idle.append(worker)
    return .nothing
  }

  /// A worker has slept long enough. `false` where it has been given a job meanwhile.
  mutating func dismiss(_ worker: Worker) -> Bool {
    guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
    idle.remove(at: index)
    return true
  }

  // MARK: Sampling

  /// `true` once for each time that a sampler is needed and there is none.
  mutating func beginSampling() -> Bool {
    guard needsSampling, !isSampling else { return false }
    isSampling = true
    return true
  }

  /// The sampler could not be started: the next request tries again.
  mutating func samplerDidNotStart() { isSampling = false }

  /// The sampler has looked. Returns what has to be done, and whether it must look again.
  mutating func sampled(blockedCount: Int) -> (actions: [Action], goesOn: Bool) {
    self.blockedCount = blockedCount
    var actions: [Action] = []
    while let job = nextJob() { actions.append(employ(job)) }
    isSampling = needsSampling
    if !isSampling { self.blockedCount = 0 }
    return (actions, isSampling)
  }
}
