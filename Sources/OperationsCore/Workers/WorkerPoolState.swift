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
  static let reserve = 2
  private static let shortestBackOff: Int64 = 5_000_000
  private static let longestBackOff: Int64 = 500_000_000

  let processorCount: Int
  /// The maximum number of threads for queues of the program at present.
  var threadLimit: Int
  /// Whether a queue of great width raises the limit.
  let isLimitRaised: Bool
  /// The number of threads, including those that are about to run.
  private(set) var threadCount = 0
  private(set) var workers: [ObjectIdentifier: Worker] = [:]
  /// The sleeping workers. The worker that fell asleep most recently is the last one.
  private(set) var idle: [Worker] = []
  /// The sleeping workers with low scheduling priority, which serve only background queues.
  private(set) var idleInBackground: [Worker] = []
  /// The number of threads that serve a request.
  private(set) var grantedCount = 0
  /// The numbers of threads that do the library's own work, and that run completion blocks.
  var dutyCount = 0
  var completionCount = 0
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
  private(set) var backgroundShared = RequestLine()
  private(set) var backgroundOwn = RequestLine()
  /// Whether the first request of a background queue has waited for so long that it comes before others.
  var isBackgroundDue = false
  /// The waiting request of a background queue that comes first, and the time at which the sampler first saw
  /// it.
  var firstInBackground: (number: UInt64, time: Int64)?
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
    if !lane.isBackground || shared.isEmpty && own.isEmpty, mayGrant(lane, within: currentBudget),
      let action = employ(request)
    {
      return action
    }
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
    guard lane.isForOperations, !lane.isBackground,
      grantedCount >= budget + (lane == .own ? burst : 0)
    else {
      return false
    }
    lastNumber += 1
    queue._withUnsafeGuaranteedRef { $0.waitingRequest = lastNumber }
    let request = Request(job: .serve(queue), lane: lane, number: lastNumber)
    if lane == .own { own.append(request) } else { shared.append(request) }
    return true
  }

  /// Handles a change of a queue's width or quality of service: the queue's waiting request moves to the lane
  /// for the new value.
  mutating func laneChanged(of queue: Unmanaged<QueueCore>, to lane: Lane, width: Int) -> [Action] {
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
    if lane.isBackground { isBackgroundDue = false }
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
    case .backgroundShared: body(&backgroundShared)
    case .backgroundOwn: body(&backgroundOwn)
    }
  }

  /// Grants the request, if an idle thread exists or a new thread may be started.
  ///
  /// A thread can lower its priority, but not raise it again. So if no further thread may be started, or the system
  /// has just refused one, a request of a background queue gets an idle thread of the others, which stays in the
  /// background from then on. In the other case, an idle thread in the background ends, and a new one takes its place.
  mutating func employ(_ request: Request) -> Action? {
    let isBackground = request.lane.isBackground
    if let worker = isBackground ? idleInBackground.popLast() : idle.popLast() {
      return wake(worker, request)
    }
    let isAtLimit = threadCount >= threadLimit + Self.reserve
    if !workerBackOff.isUnderWay, !isAtLimit {
      threadCount += 1
      return .start(granted(request))
    }
    if isBackground, let worker = idle.popLast() {
      worker.isInBackground = true
      return wake(worker, request)
    }
    guard !isBackground, let worker = idleInBackground.popLast() else { return nil }
    workers[ObjectIdentifier(worker)] = nil
    return .replace(worker, granted(request))
  }

  private mutating func wake(_ worker: Worker, _ request: Request) -> Action {
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
    if isBackgroundDue, let request = nextRequestInBackground() { return request }
    let isSharedFirst = (shared.first?.number ?? .max) < (own.first?.number ?? .max)
    if isSharedFirst, mayGrant(.shared, within: budget) { return take(.shared) }
    if !own.isEmpty, mayGrant(.own, within: budget) { return take(.own) }
    return shared.isEmpty && own.isEmpty ? nextRequestInBackground() : nil
  }

  private mutating func nextRequestInBackground() -> Request? {
    if backgroundCount == 0 { return nil }
    let isSharedFirst =
      (backgroundShared.first?.number ?? .max) < (backgroundOwn.first?.number ?? .max)
    if isSharedFirst, mayGrant(.backgroundShared, within: budget) { return take(.backgroundShared) }
    if !backgroundOwn.isEmpty, mayGrant(.backgroundOwn, within: budget) {
      return take(.backgroundOwn)
    }
    return nil
  }

  /// Grants the next waiting request, if it may be granted.
  private mutating func grantNext() -> Action? {
    guard let request = nextRequest() else { return nil }
    if let action = employ(request) { return action }
    wait(request)
    return nil
  }

  /// Grants as many waiting requests as possible.
  mutating func grantAll() -> [Action] {
    var actions: [Action] = []
    while let action = grantNext() { actions.append(action) }
    return actions
  }

  /// Grants the first request of the lane ``Lane/own``, or of ``Lane/backgroundOwn`` if there is none, even if
  /// the budget of running threads is used up.
  mutating func grantBeyondBudget() -> Action? {
    guard !isFull, let request = own.first ?? backgroundOwn.first, let action = employ(request)
    else { return nil }
    stallCount += 1
    _ = take(request.lane)
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
    let action = idle.isEmpty && idleInBackground.isEmpty ? nil : grantNext()
    return (action ?? .nothing, takeStranded())
  }

  /// Handles the end of a granted request.
  ///
  /// - Returns: The next request of the worker, or `nil` if it falls asleep; and the action for the caller.
  mutating func finished(_ request: Request, by worker: Worker) -> (next: Request?, Action) {
    unblock(worker)
    giveBack(request)
    let next = nextRequest()
    if let next, next.lane.isBackground == worker.isInBackground {
      return (granted(next), .nothing)
    }
    worker.isGranted = false
    if worker.isInBackground { idleInBackground.append(worker) } else { idle.append(worker) }
    guard let next else { return (nil, .nothing) }
    if let action = employ(next) { return (nil, action) }
    wait(next)
    return (nil, .nothing)
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
    return grantNext() ?? .nothing
  }

  /// Removes an idle worker. Returns `false` if the worker is not idle, because it has received a request.
  mutating func dismiss(_ worker: Worker) -> Bool {
    if let index = idle.firstIndex(where: { $0 === worker }) {
      idle.remove(at: index)
    } else if let index = idleInBackground.firstIndex(where: { $0 === worker }) {
      idleInBackground.remove(at: index)
    } else {
      return false
    }
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
