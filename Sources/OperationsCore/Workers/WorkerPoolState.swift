// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The threads of a pool, and the requests that wait for a thread. The pool's lock guards this value. Its
/// methods only change the value and return actions, which the caller performs.
///
/// All queues share one budget of running threads, which is the number of processors. A worker that is
/// blocked in the kernel does not count: the sampler searches for blocked workers while requests wait. Each
/// kind of request (``Lane``) has its own rule for threads in addition to the budget.
struct WorkerPoolState {
  enum SamplerCommand: Equatable { case nothing, start, wake }

  enum Sampler { case none, awake, resting }

  static let defaultThreadLimit = 512
  /// The number of threads beyond the limit: one for the library's own work, one for completion blocks.
  private static let reserve = 2
  private static let shortestBackOff: Int64 = 5_000_000
  private static let longestBackOff: Int64 = 500_000_000

  let processorCount: Int
  /// The maximum number of threads for queues of the program at present.
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
  /// The numbers of threads that do the library's own work, and that run completion blocks.
  private var dutyCount = 0
  private var completionCount = 0
  /// The number of workers that serve a request and count as blocked.
  var blockedCount = 0
  /// The number of threads that do the library's own work in addition to the budget of running threads, and
  /// the same number for completion blocks.
  private(set) var dutySurplus = 0
  private(set) var completionSurplus = 0
  /// The maximum values of `dutySurplus` and `completionSurplus`, the numbers of threads beyond the budget.
  var dutyAllowance = SurplusAllowance()
  var completionAllowance = SurplusAllowance()
  /// The number of threads that were added because no operation had started or ended for 20 ms.
  var stallCount = 0
  /// The number of ``Lane/own`` requests that may exceed the thread budget until the sampler's next check.
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
  /// The number of waiting requests to run the program's operations, but not its completion blocks.
  var waitingOperationsCount: Int { shared.count + own.count }
  var hasWaiting: Bool { !(shared.isEmpty && own.isEmpty && completion.isEmpty && duty.isEmpty) }
  /// Whether a request for the library's own work or for a completion block waits and may get a thread, even
  /// if the limit of threads is reached. The limit allows one additional thread for each of the two.
  var hasDutiesToServe: Bool {
    !duty.isEmpty && dutyCount == 0 || !completion.isEmpty && completionCount == 0
  }
  /// Whether as many threads as the limit allows serve requests. One thread with the library's own work and
  /// one thread with a completion block do not count.
  var isFull: Bool {
    grantedCount - min(dutyCount, 1) - min(completionCount, 1) >= threadLimit
  }
  /// Whether a request waits only because the limit of threads is reached.
  var isAtLimit: Bool {
    isFull
      && (!shared.isEmpty && fits(.shared, within: budget)
        || !own.isEmpty && fits(.own, within: budget))
  }
  var surplusCount: Int { dutySurplus + completionSurplus }

  private var budget: Int { processorCount + blockedCount + surplusCount + stallCount }

  /// Whether more threads serve requests than the budget allows, so that a worker should stop soon.
  var isOverBudget: Bool { grantedCount > budget + burst }

  /// The budget of running threads for new requests. Blocked workers count only while the sampler checks
  /// them.
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

  /// Raises the limit of threads to the width of a queue plus the number of processors, if that is greater.
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
  ///   - lane: The kind of the request, which determines how many threads it may use.
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

  /// Adds the request of a queue to the waiting requests, if the request must wait and the caller has nothing
  /// else to do. This is so if several requests wait already, the budget of running threads is used up, and
  /// the sampler is awake. ``waitingSummary`` does not change in that case.
  ///
  /// This method is faster than ``request(_:_:width:)``, for threads that add operations to many queues.
  ///
  /// - Returns: `false` if one of the conditions is not met. In that case nothing was changed.
  // This method is inlined and uses stored properties only. Otherwise the whole state would be copied.
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

  /// Handles a change of a queue's width: the queue's waiting request moves to the lane for the new width.
  mutating func widthChanged(of queue: Unmanaged<QueueCore>, to lane: Lane, width: Int) -> [Action]
  {
    guard var request = takeRequest(of: .serve(queue)) else { return [] }
    raiseLimit(toServe: width)
    request.lane = lane
    wait(request)
    return grantAll()
  }

  /// Removes and returns the waiting request for a job, which is a queue or the blocks of an operation.
  ///
  /// - Returns: The request; `nil` if no request for this job waits.
  mutating func takeRequest(of job: Job) -> Request? {
    let number = job.waitingNumber
    if number == 0 { return nil }
    job.waitingNumber = 0
    for lane in Lane.allCases {
      if let request = withLine(lane, { $0.remove(number: number) }) { return request }
    }
    return nil
  }

  /// Adds a request to the waiting requests of its kind (lane), at the place for its serial number.
  private mutating func wait(_ request: Request) {
    request.job.waitingNumber = request.number
    withLine(request.lane) { $0.insert(request) }
  }

  /// Removes and returns the first waiting request of one kind (lane).
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

  /// Grants the request, if an idle thread exists or a new thread may be started.
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

  /// Removes and returns the waiting request to grant next; `nil` if no waiting request may be granted.
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

  /// Grants the first request of the lane ``Lane/own``, even if the budget of running threads is used up.
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
    // The system has just started a thread, so it may also be able to start the sampler's thread.
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
    // A worker may have become idle after the thread was requested, and no other code would wake this worker.
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

  /// Handles that the operation of a worker has ended. The worker no longer counts as blocked.
  mutating func unblock(_ worker: Worker) {
    guard worker.isCountedBlocked else { return }
    worker.isCountedBlocked = false
    blockedCount -= 1
  }

  /// Handles that an operation has ended a worker's thread while the worker served a request.
  mutating func lost(_ worker: Worker, _ request: Request) -> Action {
    unblock(worker)
    // From now on, the sampler does not count the worker as blocked, even if it checks the worker now.
    worker.isGranted = false
    giveBack(request)
    workers[ObjectIdentifier(worker)] = nil
    threadCount -= 1
    guard let next = nextRequest() else { return .nothing }
    if let action = employ(next) { return action }
    wait(next)
    return .nothing
  }

  /// Removes an idle worker. Returns `false` if the worker is not idle, because it has received a request.
  mutating func dismiss(_ worker: Worker) -> Bool {
    guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
    idle.remove(at: index)
    workers[ObjectIdentifier(worker)] = nil
    threadCount -= 1
    return true
  }

  // MARK: Failures

  /// Whether the sampler could not be started, so that no thread of the pool tries again to start threads.
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
