// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which threads there are and which requests wait for one. Pure: guarded by the pool's lock, and the
/// caller performs what is returned.
///
/// All queues share one budget of running threads, the processors. A worker that is blocked in the
/// kernel does not count: the sampler looks for those while requests wait. Three kinds of requests
/// (``Lane``) differ in what they may use beyond that.
struct WorkerPoolState {
  /// What a thread does. Without counted references: thousands of these wait, and are moved under the
  /// pool's lock.
  enum Job {
    /// Serve a queue, whose public object is retained for that.
    case serve(Unmanaged<QueueCore>)
    /// Run blocks of an operation that has several. They are retained for that.
    case run(Unmanaged<ExecutionBlocks>)
  }

  enum Lane: Equatable, Sendable {
    /// A queue of default width: the budget, and as many workers as are blocked.
    case shared
    /// A queue with a width of its own, or the blocks of one operation, which may wait for each other.
    /// In addition, the number of these workers doubles while all workers are blocked, and grows by one
    /// if no operation starts or finishes for 20 ms.
    case own
    /// The library's own work: one worker beyond the budget.
    case urgent
  }

  struct Request {
    let job: Job
    let lane: Lane
    fileprivate(set) var number: UInt64 = 0
    /// It is served beyond the budget.
    fileprivate(set) var isSurplus = false
  }

  enum Action {
    case nothing
    case wake(Worker, Request)
    case start(Request)
  }

  /// What the sampler saw.
  struct Look {
    /// The workers that run nothing: blocked in the kernel, or their operation has finished.
    var blocked: [Worker] = []
    /// Some workers have used no processor time since the last look, and will be judged by the next.
    var isUndecided = false
    /// How many operations workers have started and left, ever.
    var progress: UInt64 = 0
    /// Nanoseconds on the monotonic clock.
    var now: Int64 = 0
  }

  /// What the sampler does next.
  enum Sampling: Equatable {
    case again(afterNanoseconds: Int64)
    case rest
  }

  enum SamplerCommand: Equatable { case nothing, start, wake }

  private enum Sampler { case none, awake, resting }

  static let defaultThreadLimit = 512
  /// A greater width asks for no particular number of threads.
  static let greatestCountedWidth = 1 << 16
  static let stallNanoseconds: Int64 = 20_000_000
  private static let shortest: Int64 = 1_000_000
  private static let longest: Int64 = 5_000_000
  private static let shortestBackOff: Int64 = 5_000_000
  private static let longestBackOff: Int64 = 500_000_000
  /// How many looks without need the sampler takes before it rests.
  private static let patience = 3

  let processorCount: Int
  /// The most threads at present.
  private(set) var threadLimit: Int
  /// Whether a wide queue raises the limit.
  private let isLimitRaised: Bool
  /// Threads, those included that are about to run.
  private(set) var threadCount = 0
  private(set) var workers: [ObjectIdentifier: Worker] = [:]
  /// Threads that sleep, the last to fall asleep last.
  private(set) var idle: [Worker] = []
  /// Threads that serve a request.
  private(set) var grantedCount = 0
  /// How many of those count as blocked.
  private(set) var blockedCount = 0
  private(set) var surplusCount = 0
  /// How many threads were added because nothing moved.
  private(set) var stallCount = 0
  /// How many requests of the own lane may be granted beyond the budget until the next look.
  private var burst = 0
  private var growth: Int
  private var shared = RequestLine()
  private var own = RequestLine()
  private var urgent = RequestLine()
  private var lastNumber: UInt64 = 0

  private var sampler = Sampler.none
  private var interval = WorkerPoolState.shortest
  private var needlessLooks = 0
  private var lastProgress: UInt64 = 0
  private var lastProgressTime: Int64 = 0

  /// How long to wait after a thread could not be started; 0 while that has not happened.
  private var backOff: Int64 = 0
  private var retryTime: Int64 = 0
  private var failureCount = 0

  /// Whether a thread was missing because there may be no more; set once for each report.
  private var wantsLimitReport = false
  private var hasReportedLimit = false

  init(_ configuration: WorkerPoolConfiguration) {
    processorCount = configuration.processorCount
    threadLimit = configuration.threadLimit ?? max(Self.defaultThreadLimit, processorCount)
    isLimitRaised = configuration.threadLimit == nil
    growth = processorCount
  }

  // MARK: Limits

  var waitingCount: Int { shared.count + own.count + urgent.count }
  var hasWaiting: Bool { !(shared.isEmpty && own.isEmpty && urgent.isEmpty) }
  /// Whether requests wait although there may be no more threads.
  var isAtLimit: Bool { hasWaiting && idle.isEmpty && threadCount >= threadLimit }

  private var budget: Int { processorCount + blockedCount + surplusCount + stallCount }

  /// Whether a worker gives up its part of the budget at the next opportunity.
  var isOverBudget: Bool { grantedCount > budget + burst }

  /// The budget of new requests. What the sampler has not seen for a while does not count: those that
  /// were blocked may run by now.
  private var currentBudget: Int { sampler == .awake ? budget : budget - blockedCount }

  private func mayGrant(_ lane: Lane, within budget: Int) -> Bool {
    switch lane {
    case .shared: grantedCount < budget
    case .own: grantedCount < budget + burst
    case .urgent: grantedCount < budget || surplusCount == 0
    }
  }

  // MARK: Requests

  /// A thread is wanted.
  ///
  /// - Parameters:
  ///   - job: What it does.
  ///   - lane: What the request may use.
  ///   - width: The width of the queue; −1 if it has none of its own.
  /// - Returns: What its caller does.
  mutating func request(_ job: Job, _ lane: Lane, width: Int = -1) -> Action {
    if isLimitRaised, width <= Self.greatestCountedWidth {
      threadLimit = max(threadLimit, width + processorCount)
    }
    lastNumber += 1
    let request = Request(job: job, lane: lane, number: lastNumber)
    if mayGrant(lane, within: currentBudget), let action = employ(request) { return action }
    append(request)
    return .nothing
  }

  private mutating func append(_ request: Request) {
    switch request.lane {
    case .shared: shared.append(request)
    case .own: own.append(request)
    case .urgent: urgent.append(request)
    }
  }

  /// Grants the request, if there is a thread for it.
  private mutating func employ(_ request: Request) -> Action? {
    guard let worker = idle.popLast() else {
      if threadCount >= threadLimit {
        wantsLimitReport = true
        return nil
      }
      if backOff > 0 { return nil }
      threadCount += 1
      return .start(granted(request))
    }
    worker.isGranted = true
    return .wake(worker, granted(request))
  }

  private mutating func granted(_ request: Request) -> Request {
    var request = request
    request.isSurplus = request.lane == .urgent && grantedCount >= budget
    if request.isSurplus { surplusCount += 1 }
    grantedCount += 1
    return request
  }

  private mutating func giveBack(_ request: Request) {
    grantedCount -= 1
    if request.isSurplus { surplusCount -= 1 }
  }

  /// The request that is granted next, if one may be.
  private mutating func nextRequest() -> Request? {
    if !urgent.isEmpty, mayGrant(.urgent, within: budget) { return urgent.popFirst() }
    let isSharedFirst = (shared.first?.number ?? .max) < (own.first?.number ?? .max)
    if isSharedFirst, mayGrant(.shared, within: budget) { return shared.popFirst() }
    if !own.isEmpty, mayGrant(.own, within: budget) { return own.popFirst() }
    return nil
  }

  // MARK: Workers

  /// A worker's thread has begun to run.
  mutating func joined(_ worker: Worker) {
    workers[ObjectIdentifier(worker)] = worker
    backOff = 0
    failureCount = 0
  }

  /// A thread could not be started.
  ///
  /// - Returns: The requests that nothing will ever serve: there is no thread.
  mutating func startFailed(_ request: Request, now: Int64) -> [Request] {
    threadCount -= 1
    giveBack(request)
    failureCount = min(failureCount + 1, 8)
    backOff = min(Self.shortestBackOff << failureCount, Self.longestBackOff)
    retryTime = now + backOff
    prepend(request)
    return takeStranded()
  }

  /// A worker has done what it was granted.
  ///
  /// - Returns: What it does next. It falls asleep where that is nothing.
  mutating func finished(_ request: Request, by worker: Worker) -> Request? {
    unblock(worker)
    giveBack(request)
    if let next = nextRequest() { return granted(next) }
    worker.isGranted = false
    idle.append(worker)
    return nil
  }

  /// The operation of a worker that counted as blocked has returned.
  mutating func unblock(_ worker: Worker) {
    guard worker.isCountedBlocked else { return }
    worker.isCountedBlocked = false
    blockedCount -= 1
  }

  /// A worker's thread ends while it serves a request.
  mutating func lost(_ worker: Worker, _ request: Request) -> Action {
    unblock(worker)
    // A look of the sampler that is under way does not count it again.
    worker.isGranted = false
    giveBack(request)
    workers[ObjectIdentifier(worker)] = nil
    threadCount -= 1
    guard let next = nextRequest() else { return .nothing }
    if let action = employ(next) { return action }
    append(next)
    return .nothing
  }

  /// A worker has slept long enough. `false` if it was given a request meanwhile.
  mutating func dismiss(_ worker: Worker) -> Bool {
    guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
    idle.remove(at: index)
    workers[ObjectIdentifier(worker)] = nil
    threadCount -= 1
    return true
  }

  // MARK: Sampling

  private var needsSampling: Bool { hasWaiting && !isAtLimit }

  /// What is to be done about the sampler after a change.
  mutating func samplerCommand() -> SamplerCommand {
    guard sampler != .awake, needsSampling else { return .nothing }
    let isNew = sampler == .none
    sampler = .awake
    interval = Self.shortest
    needlessLooks = 0
    lastProgressTime = .min
    return isNew ? .start : .wake
  }

  /// The sampler could not be started: the next change tries again.
  ///
  /// - Returns: The requests that nothing will ever serve: there is no thread.
  mutating func samplerDidNotStart() -> [Request] {
    sampler = .none
    return takeStranded()
  }

  private mutating func takeStranded() -> [Request] {
    guard threadCount == 0, sampler == .none else { return [] }
    defer {
      (shared, own, urgent) = (RequestLine(), RequestLine(), RequestLine())
      backOff = 0
    }
    return Array(urgent.all + shared.all + own.all)
  }

  /// The resting sampler wants to end. `false` if it was called meanwhile.
  mutating func samplerMayEnd() -> Bool {
    guard sampler == .resting else { return false }
    sampler = .none
    return true
  }

  /// The sampler has looked. Returns what has to be done, and when it looks again.
  mutating func looked(_ look: Look) -> (actions: [Action], next: Sampling) {
    countBlocked(look)
    notice(look)
    if backOff > 0, look.now >= retryTime { backOff = 0 }
    let isAllBlocked = blockedCount > 0 && blockedCount >= grantedCount
    let isGrowing = isAllBlocked && !own.isEmpty
    burst = isGrowing ? growth : look.isUndecided ? burst : 0
    if isGrowing {
      growth = min(2 * growth, 512)
    } else if !look.isUndecided {
      growth = processorCount
    }
    var actions = grantAll()
    if !own.isEmpty, look.now - lastProgressTime >= Self.stallNanoseconds {
      lastProgressTime = look.now
      if let action = own.first.flatMap({ employ($0) }) {
        stallCount += 1
        own.popFirst()
        actions.append(action)
      }
    }
    return (actions, plan(isBusy: !actions.isEmpty || isAllBlocked || look.isUndecided))
  }

  private mutating func countBlocked(_ look: Look) {
    for worker in workers.values where worker.isCountedBlocked { unblock(worker) }
    for worker in look.blocked where worker.isGranted {
      worker.isCountedBlocked = true
      blockedCount += 1
    }
  }

  private mutating func notice(_ look: Look) {
    if lastProgressTime == .min || look.progress != lastProgress {
      stallCount = 0
      lastProgress = look.progress
      lastProgressTime = look.now
    }
  }

  private mutating func grantAll() -> [Action] {
    var actions: [Action] = []
    while let request = nextRequest() {
      guard let action = employ(request) else {
        prepend(request)
        break
      }
      actions.append(action)
    }
    return actions
  }

  private mutating func prepend(_ request: Request) {
    switch request.lane {
    case .shared: shared.prepend(request)
    case .own: own.prepend(request)
    case .urgent: urgent.prepend(request)
    }
  }

  private mutating func plan(isBusy: Bool) -> Sampling {
    needlessLooks = needsSampling ? 0 : needlessLooks + 1
    if isAtLimit { wantsLimitReport = true }
    if needlessLooks >= Self.patience || isAtLimit {
      sampler = .resting
      burst = 0
      return .rest
    }
    interval = isBusy ? Self.shortest : min(2 * interval, Self.longest)
    return .again(afterNanoseconds: interval)
  }

  /// Whether to report, now, that there may be no more threads.
  mutating func takeLimitReport() -> Bool {
    guard wantsLimitReport, !hasReportedLimit else { return false }
    hasReportedLimit = true
    return true
  }
}
