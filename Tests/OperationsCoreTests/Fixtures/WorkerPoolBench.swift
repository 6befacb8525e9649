// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

/// The state of a thread pool, for tests of its decisions. No real threads are started.
struct WorkerPoolBench {
  var state: WorkerPoolState
  let pool: WorkerPool
  /// The workers that serve a request, with their requests, in the order in which the service
  /// began.
  private(set) var serving: [(worker: Worker, request: WorkerPoolState.Request)] = []
  private let queues: [OperationQueue]
  private var time: Int64 = 0

  init(processors: Int, limit: Int? = nil, queueCount: Int = 1) {
    queues = (0..<queueCount).map { _ in OperationQueue() }
    let configuration = WorkerPoolConfiguration(processorCount: processors, threadLimit: limit)
    state = WorkerPoolState(configuration)
    pool = WorkerPool(configuration) { _, _, _ in 1 }
  }

  mutating func request(
    _ count: Int = 1, _ lane: WorkerPoolState.Lane = .shared, width: Int = -1, of queue: Int = 0
  ) {
    for _ in 0..<count {
      perform(state.request(.serve(.passUnretained(queues[queue].core)), lane, width: width))
      _ = state.samplerCommand()
    }
  }

  /// Requests a worker for which the pool must start a thread. The caller decides whether the start
  /// succeeds.
  mutating func requestThread(for queue: OperationQueue) throws -> WorkerPoolState.Request {
    let action = state.request(.serve(.passUnretained(queue.core)), .shared)
    let request: WorkerPoolState.Request? =
      if case .start(let request) = action { request } else { nil }
    return try #require(request)
  }

  mutating func change(widthOf queue: Int, to width: Int, _ lane: WorkerPoolState.Lane) {
    let reference = Unmanaged.passUnretained(queues[queue].core)
    for action in state.laneChanged(of: reference, to: lane, width: width) { perform(action) }
    _ = state.samplerCommand()
  }

  func address(of queue: Int) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(queues[queue].core).toOpaque()
  }

  mutating func perform(_ action: WorkerPoolState.Action) {
    switch action {
    case .nothing: break
    case .wake(let worker, let request): serving.append((worker, request))
    case .start(let request):
      let worker = Worker(pool: pool, request: request)
      state.joined(worker)
      serving.append((worker, request))
    case .replace(_, let request): perform(.start(request))
    }
  }

  /// Makes a number of attempts to start the thread for a request fail: the first one, and then
  /// immediate retries.
  mutating func refuse(_ request: WorkerPoolState.Request, times: Int) {
    var request = request
    for attempt in 1...times {
      _ = state.startFailed(request, now: 0)
      _ = state.samplerCommand()
      guard attempt < times, case .start(let next)? = state.retry(now: .max).first else { return }
      request = next
    }
  }

  /// Advances the time, by 1 ms if not otherwise specified, and takes a sample. In the sample, the
  /// first `blocked` of the serving workers are blocked.
  @discardableResult
  mutating func look(blocked: Int, progress: UInt64 = 0, after: Int64 = 1_000_000)
    -> WorkerPoolState.Sampling
  {
    time += after
    let (actions, next) = state.looked(
      WorkerPoolState.Look(
        blocked: serving.prefix(blocked).map(\.worker), progress: progress, now: time))
    for action in actions { perform(action) }
    return next
  }

  /// Ends the service of the first worker's request. Returns whether this worker now serves another
  /// request.
  @discardableResult
  mutating func finishFirst() -> Bool { finish(0) }

  /// Ends the service of a worker's request. Returns whether this worker now serves another
  /// request.
  @discardableResult
  mutating func finish(_ index: Int) -> Bool {
    let (worker, request) = serving.remove(at: index)
    let (next, action) = state.finished(request, by: worker)
    perform(action)
    guard let next else { return false }
    serving.append((worker, next))
    return true
  }
}
