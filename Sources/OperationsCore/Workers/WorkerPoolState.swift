// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The threads, and the requests that wait for one. Pure: guarded by the pool's lock, and the
/// caller performs the returned actions.
///
/// All queues share one budget of running threads, which is the number of processors. A worker that
/// is blocked in the kernel does not count: the sampler searches for those while requests wait. The
/// kinds of requests (``Lane``) differ in what they may use beyond that.
struct WorkerPoolState {
  enum SamplerCommand: Equatable { case nothing, start, wake }

  enum Sampler { case none, awake, resting }

  static let defaultThreadLimit = 512
  /// The threads beyond the limit: one for duties and one for completion blocks.
  private static let reserve = 2
  private static let shortestBackOff: Int64 = 5_000_000
  private static let longestBackOff: Int64 = 500_000_000

  let processorCount: Int
  /// The maximum number of threads that serve queues of the program at present.
  private(set) var threadLimit: Int
  /// Whether a queue of great width raises the limit.
  private let isLimitRaised: Bool
  /// The number of threads, including those that are about to run.
  private(set) var threadCount = 0
  private(set) var workers: [ObjectIdentifier: Worker] = [:]
  /// The sleeping workers. The worker that fell asleep most recently is the last one.
  private(set) var idle: [Worker] = []
  /// The number of threads that serve a request.
  private(set) var grantedCount = 0
  /// The numbers of threads that serve a duty and that serve a completion block.
  private var dutyCount = 0
  private var completionCount = 0
  /// The number of granted workers that count as blocked.
  var blockedCount = 0
  /// The numbers of duties and completion blocks that are served beyond the budget.
  private(set) var dutySurplus = 0
  private(set) var completionSurplus = 0
  /// The maximum numbers of duties and completion blocks that are served beyond the budget.
  var dutyAllowance = SurplusAllowance()
  var completionAllowance = SurplusAllowance()
  /// The number of threads that were added because there was no progress.
  var stallCount = 0
  /// The number of requests of the own lane that may be granted beyond the budget until the next
  /// check.
  var burst = 0
  private(set) var duty = RequestLine()
  private(set) var completion = RequestLine()
  private(set) var shared = RequestLine()
  private(set) var own = RequestLine()
  private var lastNumber: UInt64 = 0

  var sampler = Sampler.none
  var sampling: SamplingState

  /// The pauses after a failure to start a worker, and after a failure to start the sampler.
  private(set) var workerBackOff = BackOff(shortest: shortestBackOff, longest: longestBackOff)
  private(set) var samplerBackOff = BackOff(shortest: shortestBackOff, longest: longestBackOff)

  /// Whether a request could not get a thread because of the limit, so that a report is due.
  var wantsLimitReport = false
  private var hasReportedLimit = false

  init(_ configuration: WorkerPoolConfiguration) {
    processorCount = configuration.processorCount
    threadLimit = configuration.threadLimit ?? max(Self.defaultThreadLimit, processorCount)
    isLimitRaised = configuration.threadLimit == nil
    sampling = SamplingState(growth: processorCount)
  }

  // MARK: Limits

  var waitingCount: Int { duty.count + completion.count + shared.count + own.count }
  /// The number of waiting requests for operations of the program, without those of the library
  /// itself.
  var waitingOperationsCount: Int { shared.count + own.count }
  var hasWaiting: Bool { !(shared.isEmpty && own.isEmpty && completion.isEmpty && duty.isEmpty) }
  /// Whether a duty or a completion block waits that may get a thread at the limit: one of each may.
  var hasDutiesToServe: Bool {
    !duty.isEmpty && dutyCount == 0 || !completion.isEmpty && completionCount == 0
  }
  /// Whether all possible threads serve requests. One duty and one completion block do not count.
  var isFull: Bool {
    grantedCount - min(dutyCount, 1) - min(completionCount, 1) >= threadLimit
  }
  /// Whether the limit is the only reason why a request waits.
  var isAtLimit: Bool {
    isFull
      && (!shared.isEmpty && fits(.shared, within: budget)
        || !own.isEmpty && fits(.own, within: budget))
  }
  var surplusCount: Int { dutySurplus + completionSurplus }

  private var budget: Int { processorCount + blockedCount + surplusCount + stallCount }

  /// Whether a worker gives up its part of the budget at the next opportunity.
  var isOverBudget: Bool { grantedCount > budget + burst }

  /// The budget of new requests. Old observations of the sampler do not count, because blocked
  /// workers may run by now.
  private var currentBudget: Int { sampler == .awake ? budget : budget - blockedCount }

  private func fits(_ lane: Lane, within budget: Int) -> Bool {
    switch lane {
    case .duty: grantedCount < budget || dutySurplus < dutyAllowance.count
    case .completion: grantedCount < budget || completionSurplus < completionAllowance.count
    case .shared: grantedCount < budget
    case .own: grantedCount < budget + burst
    }
  }

  private mutating func mayGrant(_ lane: Lane, within budget: Int) -> Bool {
    guard fits(lane, within: budget) else { return false }
    guard isFull else { return true }
    switch lane {
    case .duty: return dutyCount == 0
    case .completion: return completionCount == 0
    case .shared, .own:
      wantsLimitReport = true
      return false
    }
  }

  /// Raises the limit for a queue of this width: it may have as many threads, in addition to those
  /// for the processors.
  private mutating func raiseLimit(toServe width: Int) {
    // The width `Int.max` requests no particular number of threads.
    guard isLimitRaised, width > 0, width < .max else { return }
    let (sum, isTooLarge) = width.addingReportingOverflow(processorCount)
    threadLimit = max(threadLimit, isTooLarge ? .max - Self.reserve : sum)
  }

  // MARK: Requests

  /// Adds a request for a thread.
  ///
  /// - Parameters:
  ///   - job: The work of the thread.
  ///   - lane: The resources that the request may use.
  ///   - width: The width of the queue; −1 for the default width.
  /// - Returns: The action for the caller.
  mutating func request(_ job: Job, _ lane: Lane, width: Int = -1) -> Action {
    if width >= threadLimit - processorCount { raiseLimit(toServe: width) }
    lastNumber += 1
    let request = Request(job: job, lane: lane, number: lastNumber)
    if mayGrant(lane, within: currentBudget), let action = employ(request) { return action }
    job.waitingNumber = request.number
    withLine(lane) { $0.append(request) }
    return .nothing
  }

  /// Puts the request of a queue in its line, if nothing else is to do: several requests wait already, so
  /// that ``waitingSummary`` stays the same, the budget is used up, and the sampler is awake.
  ///
  /// For a thread that adds operations to many queues. The result is that of ``request(_:_:width:)``.
  ///
  /// - Returns: `false` if these conditions do not hold. In that case nothing was changed.
  // This method is inlined and uses plain members only, because a call would copy the whole state.
  @inline(__always)
  mutating func waitsBehindOthers(
    _ queue: Unmanaged<QueueCore>, _ lane: Lane, width: Int
  ) -> Bool {
    guard sampler == .awake, shared.count + own.count > 1, width < threadLimit - processorCount
    else { return false }
    let budget = processorCount + blockedCount + dutySurplus + completionSurplus + stallCount
    guard lane.isForOperations, grantedCount >= budget + (lane == .own ? burst : 0) else {
      return false
    }
    lastNumber += 1
    queue._withUnsafeGuaranteedRef { $0.waitingRequest = lastNumber }
    let request = Request(job: .serve(queue), lane: lane, number: lastNumber)
    if lane == .own { own.append(request) } else { shared.append(request) }
    return true
  }

  /// Handles a change of a queue's width: its waiting requests move to the lane of the new width.
  mutating func widthChanged(of queue: Unmanaged<QueueCore>, to lane: Lane, width: Int) -> [Action]
  {
    guard var request = takeRequest(of: .serve(queue)) else { return [] }
    raiseLimit(toServe: width)
    request.lane = lane
    wait(request)
    return grantAll()
  }

  /// Removes and returns the waiting request of a queue, or of an operation's blocks.
  ///
  /// - Returns: The request; `nil` if no request of this job waits.
  mutating func takeRequest(of job: Job) -> Request? {
    let number = job.waitingNumber
    if number == 0 { return nil }
    job.waitingNumber = 0
    for lane in Lane.allCases {
      if let request = withLine(lane, { $0.remove(number: number) }) { return request }
    }
    return nil
  }

  /// Adds a request to the line of its lane, at the place of its number.
  private mutating func wait(_ request: Request) {
    request.job.waitingNumber = request.number
    withLine(request.lane) { $0.insert(request) }
  }

  /// Removes and returns the first request of a lane.
  private mutating func take(_ lane: Lane) -> Request? {
    let request = withLine(lane) { $0.popFirst() }
    request?.job.waitingNumber = 0
    return request
  }

  @inline(__always)
  private mutating func withLine<Result>(
    _ lane: Lane, _ body: (inout RequestLine) -> Result
  ) -> Result {
    switch lane {
    case .duty: body(&duty)
    case .completion: body(&completion)
    case .shared: body(&shared)
    case .own: body(&own)
    }
  }

  /// Grants the request, if a thread for it exists or can be started.
  mutating func employ(_ request: Request) -> Action? {
    guard let worker = idle.popLast() else {
      if workerBackOff.isUnderWay || threadCount >= threadLimit + Self.reserve { return nil }
      threadCount += 1
      return .start(granted(request))
    }
    worker.isGranted = true
    return .wake(worker, granted(request))
  }

  private mutating func granted(_ request: Request) -> Request {
    var request = request
    let isBeyond = grantedCount >= budget
    grantedCount += 1
    count(request.lane, by: 1)
    if isBeyond, !request.lane.isForOperations {
      request.isSurplus = true
      countSurplus(request.lane, by: 1)
    }
    return request
  }

  private mutating func giveBack(_ request: Request) {
    grantedCount -= 1
    count(request.lane, by: -1)
    if request.isSurplus { countSurplus(request.lane, by: -1) }
  }

  private mutating func count(_ lane: Lane, by change: Int) {
    if lane == .duty { dutyCount += change }
    if lane == .completion { completionCount += change }
  }

  private mutating func countSurplus(_ lane: Lane, by change: Int) {
    if lane == .duty { dutySurplus += change } else { completionSurplus += change }
  }

  /// Returns the request to grant next, if one may be granted.
  private mutating func nextRequest() -> Request? {
    if !duty.isEmpty, mayGrant(.duty, within: budget) { return take(.duty) }
    if !completion.isEmpty, mayGrant(.completion, within: budget) { return take(.completion) }
    let isSharedFirst = (shared.first?.number ?? .max) < (own.first?.number ?? .max)
    if isSharedFirst, mayGrant(.shared, within: budget) { return take(.shared) }
    if !own.isEmpty, mayGrant(.own, within: budget) { return take(.own) }
    return nil
  }

  /// Grants as many waiting requests as possible.
  mutating func grantAll() -> [Action] {
    var actions: [Action] = []
    while let request = nextRequest() {
      guard let action = employ(request) else {
        wait(request)
        break
      }
      actions.append(action)
    }
    return actions
  }

  /// Grants the first request of the own lane, regardless of the budget.
  mutating func grantBeyondBudget() -> Action? {
    guard !isFull, let request = own.first, let action = employ(request) else { return nil }
    stallCount += 1
    _ = take(.own)
    return action
  }

  // MARK: Workers

  /// Adds a worker whose thread has begun to run.
  mutating func joined(_ worker: Worker) {
    workers[ObjectIdentifier(worker)] = worker
    workerBackOff.succeeded()
    // The system starts threads again, so the sampler's thread may start too.
    samplerBackOff.succeeded()
  }

  /// Handles a thread that could not be started.
  ///
  /// - Returns: The action, and the requests that can never be served, because there is no thread.
  mutating func startFailed(_ request: Request, now: Int64) -> (Action, stranded: [Request]) {
    threadCount -= 1
    giveBack(request)
    workerBackOff.begin(now: now)
    var waiting = request
    waiting.isSurplus = false
    wait(waiting)
    // A worker may have become idle meanwhile, and no other code would wake it.
    let action = idle.isEmpty ? nil : nextRequest().flatMap { employ($0) }
    return (action ?? .nothing, takeStranded())
  }

  /// Handles the end of a granted request.
  ///
  /// - Returns: The next request of the worker; `nil` if it falls asleep.
  mutating func finished(_ request: Request, by worker: Worker) -> Request? {
    unblock(worker)
    giveBack(request)
    if let next = nextRequest() { return granted(next) }
    worker.isGranted = false
    idle.append(worker)
    return nil
  }

  /// Handles the return of the operation of a worker that counted as blocked.
  mutating func unblock(_ worker: Worker) {
    guard worker.isCountedBlocked else { return }
    worker.isCountedBlocked = false
    blockedCount -= 1
  }

  /// Handles the end of a worker's thread during a request.
  mutating func lost(_ worker: Worker, _ request: Request) -> Action {
    unblock(worker)
    // After this, a concurrent check of the sampler does not count the worker again.
    worker.isGranted = false
    giveBack(request)
    workers[ObjectIdentifier(worker)] = nil
    threadCount -= 1
    guard let next = nextRequest() else { return .nothing }
    if let action = employ(next) { return action }
    wait(next)
    return .nothing
  }

  /// Removes a worker that has slept long enough. Returns `false` if it was given a request
  /// meanwhile.
  mutating func dismiss(_ worker: Worker) -> Bool {
    guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
    idle.remove(at: index)
    workers[ObjectIdentifier(worker)] = nil
    threadCount -= 1
    return true
  }

  // MARK: Failures

  /// Whether the sampler is missing, which is the only one that tries again to start a thread.
  var lacksSampler: Bool { sampler == .none && samplerBackOff.isUnderWay }

  /// Handles a failure to start the sampler.
  ///
  /// - Returns: The requests that can never be served, because there is no thread.
  mutating func samplerDidNotStart(now: Int64) -> [Request] {
    sampler = .none
    samplerBackOff.begin(now: now)
    return takeStranded()
  }

  mutating func samplerBegan() { samplerBackOff.succeeded() }

  /// Tries again to start threads after failures, if the pause is over.
  mutating func retry(now: Int64) -> [Action] {
    samplerBackOff.pass(now)
    workerBackOff.pass(now)
    return grantAll()
  }

  private mutating func takeStranded() -> [Request] {
    guard threadCount == 0, sampler == .none else { return [] }
    workerBackOff.succeeded()
    let stranded = Lane.allCases.flatMap { lane in withLine(lane) { $0.removeAll() } }
    for request in stranded { request.job.waitingNumber = 0 }
    return stranded
  }

  /// Returns whether to report now that the maximum number of threads is in use.
  mutating func takeLimitReport() -> Bool {
    guard wantsLimitReport, !hasReportedLimit else { return false }
    hasReportedLimit = true
    return true
  }
}
