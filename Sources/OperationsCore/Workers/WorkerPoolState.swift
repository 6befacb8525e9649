// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which threads there are and which requests wait for one. Pure: guarded by the pool's lock, and the
/// caller performs what is returned.
///
/// All queues share one budget of running threads, the processors. A worker that is blocked in the
/// kernel does not count: the sampler looks for those while requests wait. The kinds of requests
/// (``Lane``) differ in what they may use beyond that.
struct WorkerPoolState {
  enum SamplerCommand: Equatable { case nothing, start, wake }

  enum Sampler { case none, awake, resting }

  static let defaultThreadLimit = 512
  /// One more thread for duties and one for completion blocks, if all others are in use.
  private static let reserve = 2
  private static let shortestBackOff: Int64 = 5_000_000
  private static let longestBackOff: Int64 = 500_000_000

  let processorCount: Int
  /// The most threads at present that serve queues of the program.
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
  /// How many of those serve a duty, and how many a completion block.
  private var dutyCount = 0
  private var completionCount = 0
  /// How many of those that are granted count as blocked.
  var blockedCount = 0
  /// How many duties and how many completion blocks are served beyond the budget.
  private var dutySurplus = 0
  private var completionSurplus = 0
  /// How many of each may be.
  var dutyAllowance = SurplusAllowance()
  var completionAllowance = SurplusAllowance()
  /// How many threads were added because nothing moved.
  var stallCount = 0
  /// How many requests of the own lane may be granted beyond the budget until the next look.
  var burst = 0
  private(set) var duty = RequestLine()
  private(set) var completion = RequestLine()
  private var shared = RequestLine()
  private(set) var own = RequestLine()
  private var lastNumber: UInt64 = 0

  var sampler = Sampler.none
  var sampling: SamplingState

  /// The pause after a failure to start a worker, and after one to start the sampler.
  private(set) var workerBackOff = BackOff(shortest: shortestBackOff, longest: longestBackOff)
  private(set) var samplerBackOff = BackOff(shortest: shortestBackOff, longest: longestBackOff)

  /// Whether a thread was missing because there may be no more; set once for each report.
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
  /// How many requests of the program's operations wait. The library's own requests are not counted.
  var waitingOperationsCount: Int { shared.count + own.count }
  var hasWaiting: Bool { !(shared.isEmpty && own.isEmpty && completion.isEmpty && duty.isEmpty) }
  /// Whether duties or completion blocks wait.
  var hasWaitingDuties: Bool { !(duty.isEmpty && completion.isEmpty) }
  /// Whether each thread that there may be serves a request; one duty and one completion block do not
  /// count.
  var isFull: Bool {
    grantedCount - min(dutyCount, 1) - min(completionCount, 1) >= threadLimit
  }
  /// Whether a request waits for no other reason than that there may be no more threads.
  var isAtLimit: Bool {
    isFull
      && (!shared.isEmpty && fits(.shared, within: budget)
        || !own.isEmpty && fits(.own, within: budget))
  }
  var surplusCount: Int { dutySurplus + completionSurplus }

  private var budget: Int { processorCount + blockedCount + surplusCount + stallCount }

  /// Whether a worker gives up its part of the budget at the next opportunity.
  var isOverBudget: Bool { grantedCount > budget + burst }

  /// The budget of new requests. What the sampler has not seen for a while does not count: those that
  /// were blocked may run by now.
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

  /// A queue of this width may have as many threads, and the processors have work besides.
  private mutating func raiseLimit(toServe width: Int) {
    // The greatest number asks for no particular number of threads.
    guard isLimitRaised, width > 0, width < .max else { return }
    let (sum, isTooLarge) = width.addingReportingOverflow(processorCount)
    threadLimit = max(threadLimit, isTooLarge ? .max - Self.reserve : sum)
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
    if width >= threadLimit - processorCount { raiseLimit(toServe: width) }
    lastNumber += 1
    let request = Request(job: job, lane: lane, number: lastNumber)
    if mayGrant(lane, within: currentBudget), let action = employ(request) { return action }
    job.waitingNumber = request.number
    withLine(lane) { $0.append(request) }
    return .nothing
  }

  /// The width of a queue is another one: its waiting requests change to the lane of that width.
  mutating func widthChanged(of queue: Unmanaged<QueueCore>, to lane: Lane, width: Int) -> [Action]
  {
    guard var request = takeRequest(of: .serve(queue)) else { return [] }
    raiseLimit(toServe: width)
    request.lane = lane
    wait(request)
    return grantAll()
  }

  /// Removes the request of a queue, or of an operation's blocks, that waits.
  ///
  /// - Returns: The request; `nil` if none waits.
  mutating func takeRequest(of job: Job) -> Request? {
    let number = job.waitingNumber
    if number == 0 { return nil }
    job.waitingNumber = 0
    for lane in Lane.allCases {
      if let request = withLine(lane, { $0.remove(number: number) }) { return request }
    }
    return nil
  }

  /// Puts a request in its line, at the place of its number.
  private mutating func wait(_ request: Request) {
    request.job.waitingNumber = request.number
    withLine(request.lane) { $0.insert(request) }
  }

  /// Takes the first request out of its line.
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

  /// Grants the request, if there is a thread for it.
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

  /// The request that is granted next, if one may be.
  private mutating func nextRequest() -> Request? {
    if !duty.isEmpty, mayGrant(.duty, within: budget) { return take(.duty) }
    if !completion.isEmpty, mayGrant(.completion, within: budget) { return take(.completion) }
    let isSharedFirst = (shared.first?.number ?? .max) < (own.first?.number ?? .max)
    if isSharedFirst, mayGrant(.shared, within: budget) { return take(.shared) }
    if !own.isEmpty, mayGrant(.own, within: budget) { return take(.own) }
    return nil
  }

  /// Grants as many waiting requests as may be.
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

  /// Grants the first request of the own lane, whatever the budget is.
  mutating func grantBeyondBudget() -> Action? {
    guard !isFull, let request = own.first, let action = employ(request) else { return nil }
    stallCount += 1
    _ = take(.own)
    return action
  }

  // MARK: Workers

  /// A worker's thread has begun to run.
  mutating func joined(_ worker: Worker) {
    workers[ObjectIdentifier(worker)] = worker
    workerBackOff.succeeded()
    // Threads can be started again: perhaps the sampler's too.
    samplerBackOff.succeeded()
  }

  /// A thread could not be started.
  ///
  /// - Returns: What is to be done, and the requests that nothing will ever serve: there is no thread.
  mutating func startFailed(_ request: Request, now: Int64) -> (Action, stranded: [Request]) {
    threadCount -= 1
    giveBack(request)
    workerBackOff.begin(now: now)
    var waiting = request
    waiting.isSurplus = false
    wait(waiting)
    // A worker may have become idle meanwhile, and nobody would wake it.
    let action = idle.isEmpty ? nil : nextRequest().flatMap { employ($0) }
    return (action ?? .nothing, takeStranded())
  }

  /// A worker has done what it was granted.
  ///
  /// - Returns: What it does next. It falls asleep if that is nothing.
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
    wait(next)
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

  // MARK: Failures

  /// Whether the sampler is missing, which alone tries again to start a thread.
  var lacksSampler: Bool { sampler == .none && samplerBackOff.isUnderWay }

  /// The sampler could not be started.
  ///
  /// - Returns: The requests that nothing will ever serve: there is no thread.
  mutating func samplerDidNotStart(now: Int64) -> [Request] {
    sampler = .none
    samplerBackOff.begin(now: now)
    return takeStranded()
  }

  mutating func samplerBegan() { samplerBackOff.succeeded() }

  /// Tries again what has failed, if it is time.
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

  /// Whether to report, now, that there may be no more threads.
  mutating func takeLimitReport() -> Bool {
    guard wantsLimitReport, !hasReportedLimit else { return false }
    hasReportedLimit = true
    return true
  }
}
