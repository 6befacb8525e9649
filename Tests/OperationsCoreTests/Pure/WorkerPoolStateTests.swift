// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Testing

@testable import OperationsCore

@Suite("WorkerPoolState, without threads")
struct WorkerPoolStateTests {
  private static let queue = OperationQueue()
  private typealias Look = WorkerPoolState.Look

  /// A pool whose threads are only counted.
  private struct Bench {
    var state: WorkerPoolState
    let pool: WorkerPool
    /// Each with what it serves, in the order of their starts.
    private(set) var serving: [(worker: Worker, request: WorkerPoolState.Request)] = []
    private let queues = (0..<4).map { _ in OperationQueue() }
    private var time: Int64 = 0

    init(processors: Int, limit: Int? = nil) {
      let configuration = WorkerPoolConfiguration(processorCount: processors, threadLimit: limit)
      state = WorkerPoolState(configuration)
      pool = WorkerPool(configuration) { _, _, _ in 1 }
    }

    mutating func request(
      _ count: Int = 1, _ lane: WorkerPoolState.Lane = .shared, width: Int = -1
    ) {
      for _ in 0..<count {
        perform(state.request(.serve(.passUnretained(queues[0].core)), lane, width: width))
        _ = state.samplerCommand()
      }
    }

    mutating func perform(_ action: WorkerPoolState.Action) {
      switch action {
      case .nothing: break
      case .wake(let worker, let request): serving.append((worker, request))
      case .start(let request):
        let worker = Worker(pool: pool, request: request)
        state.joined(worker)
        serving.append((worker, request))
      }
    }

    /// The sampler looks after a millisecond: so many of those that serve are blocked, the first ones.
    @discardableResult
    mutating func look(blocked: Int, progress: UInt64 = 0, after: Int64 = 1_000_000)
      -> WorkerPoolState.Sampling
    {
      time += after
      let (actions, next) = state.looked(
        Look(blocked: serving.prefix(blocked).map(\.worker), progress: progress, now: time))
      for action in actions { perform(action) }
      return next
    }

    /// The first of those that serve has done so. Returns whether it serves another request now.
    @discardableResult
    mutating func finishFirst() -> Bool {
      let (worker, request) = serving.removeFirst()
      guard let next = state.finished(request, by: worker) else { return false }
      serving.append((worker, next))
      return true
    }
  }

  @Test(
    "MX-5, MX-6: queues of any width share as many workers as there are processors",
    arguments: [WorkerPoolState.Lane.shared, .own])
  func budget(lane: WorkerPoolState.Lane) {
    var bench = Bench(processors: 2)
    bench.request(2, lane)
    #expect(bench.serving.count == 2 && !bench.state.hasWaiting)
    bench.request(98, lane)
    #expect(bench.serving.count == 2 && bench.state.waitingCount == 98)
    for _ in 0..<10 { bench.look(blocked: 0) }
    #expect(bench.serving.count == 2 && bench.state.threadCount == 2)
  }

  @Test("MX-5: the request that waits longest is served next")
  func turns() {
    var bench = Bench(processors: 1)
    bench.request(2)
    bench.request(1, .own)
    bench.request(1)
    var lanes: [WorkerPoolState.Lane] = []
    while bench.finishFirst() { lanes.append(bench.serving[0].request.lane) }
    #expect(lanes == [.shared, .own, .shared])
    #expect(bench.state.grantedCount == 0 && bench.state.idle.count == 1)
  }

  @Test("MX-5: blocked workers are made up for, and the surplus is given back afterwards")
  func sampling() {
    var bench = Bench(processors: 1)
    bench.request(5)
    bench.look(blocked: 0)
    #expect(bench.serving.count == 1)
    bench.look(blocked: 1)
    #expect(bench.serving.count == 2)
    bench.look(blocked: 2)
    #expect(bench.serving.count == 3 && !bench.state.isOverBudget)
    bench.look(blocked: 0)
    #expect(bench.state.isOverBudget)
    #expect(!bench.finishFirst() && !bench.finishFirst())
    #expect(!bench.state.isOverBudget && bench.finishFirst())
  }

  @Test("MX-5: a worker whose operation has returned is no longer made up for")
  func returnedWorker() {
    var bench = Bench(processors: 1)
    bench.request(3)
    bench.look(blocked: 1)
    bench.look(blocked: 2)
    #expect(bench.serving.count == 3 && !bench.state.isOverBudget)
    bench.state.unblock(bench.serving[0].worker)
    #expect(bench.state.isOverBudget && bench.state.blockedCount == 1)
    bench.state.unblock(bench.serving[0].worker)
    #expect(bench.state.blockedCount == 1, "once for each")
  }

  @Test("MX-6: while all workers are blocked their number doubles, up to the width")
  func growth() {
    var bench = Bench(processors: 2)
    bench.request(1_000, .own, width: 1_000)
    var looks = 0
    while bench.serving.count < 1_000, looks < 100 {
      bench.look(blocked: bench.serving.count)
      looks += 1
    }
    #expect(bench.serving.count == 1_000 && looks <= 10)
  }

  @Test("MX-5: a default-width queue gets no more running workers than processors meanwhile")
  func noGrowthOfSharedLane() {
    var bench = Bench(processors: 2)
    bench.request(1_000)
    for blocked in stride(from: 2, through: 20, by: 2) {
      bench.look(blocked: blocked)
      #expect(bench.serving.count == blocked + 2)
    }
  }

  @Test("MX-6: if nothing has moved for 20 ms, a queue with a width of its own gets a thread more")
  func stall() {
    var bench = Bench(processors: 2)
    bench.request(2)
    bench.request(3, .own, width: 3)
    bench.look(blocked: 0, progress: 1)
    for _ in 0..<19 { bench.look(blocked: 0, progress: 1) }
    #expect(bench.serving.count == 2)
    bench.look(blocked: 0, progress: 1)
    #expect(bench.serving.count == 3 && bench.serving[2].request.lane == .own)
    bench.look(blocked: 0, progress: 2, after: 100_000_000)
    #expect(bench.serving.count == 3 && bench.state.isOverBudget, "something has moved")
    for _ in 0..<100 { bench.look(blocked: 0, progress: 2) }
    #expect(bench.serving.count == 5)
    var shared = Bench(processors: 1)
    shared.request(3)
    for _ in 0..<100 { shared.look(blocked: 0) }
    #expect(shared.serving.count == 1, "not a queue of default width")
  }

  @Test("The library's own work gets one worker beyond the budget")
  func urgent() {
    var bench = Bench(processors: 2)
    bench.request(3)
    bench.request(2, .urgent)
    #expect(bench.serving.map(\.request.lane) == [.shared, .shared, .urgent])
    #expect(!bench.state.isOverBudget)
    bench.finishFirst()
    #expect(bench.serving.map(\.request.lane) == [.shared, .urgent, .urgent], "before others")
    bench.finishFirst()
    bench.finishFirst()
    #expect(
      bench.serving.map(\.request.lane) == [.urgent, .shared] && bench.state.surplusCount == 0)
  }

  // MARK: Limit

  @Test(
    "MX-13: there are 512 threads at most, or those of the widest queue and the processors",
    arguments: [
      (-1, 512), (510, 512), (511, 513), (10_000, 10_002), (.max, 512),
    ])
  func limit(width: Int, limit: Int) {
    var bench = Bench(processors: 2)
    bench.request(limit + 10, width < 0 ? .shared : .own, width: width)
    var hasReport = false
    for _ in 0..<(2 * limit) where !bench.state.isAtLimit {
      bench.look(blocked: bench.serving.count)
      if bench.state.takeLimitReport() { hasReport = true }
    }
    #expect(bench.state.threadLimit == limit && bench.serving.count == limit)
    #expect(bench.state.isAtLimit && bench.state.waitingCount == 10)
    #expect(hasReport && !bench.state.takeLimitReport(), "one report")
    #expect(bench.look(blocked: limit) == .rest, "there is nothing that it could do")
    #expect(bench.finishFirst() && bench.state.waitingCount == 9, "it is served by those there are")
  }

  @Test("MX-13: a limit that was set is not raised by a wide queue")
  func configuredLimit() {
    var bench = Bench(processors: 2, limit: 4)
    bench.request(100, .own, width: 100)
    for _ in 0..<10 { bench.look(blocked: bench.serving.count) }
    #expect(bench.serving.count == 4 && bench.state.isAtLimit)
  }

  // MARK: Failures

  @Test(
    "MX-14: a request whose thread could not be started waits for a worker, or for the next try")
  func failedStart() throws {
    var bench = Bench(processors: 2)
    bench.request()
    guard
      case .start(let request) = bench.state.request(
        .serve(.passUnretained(Self.queue.core)), .shared)
    else {
      Issue.record("no start")
      return
    }
    #expect(bench.state.startFailed(request, now: 0).isEmpty, "one worker is there")
    #expect(bench.state.threadCount == 1 && bench.state.grantedCount == 1)
    #expect(bench.state.waitingCount == 1 && bench.state.samplerCommand() == .start)
    bench.look(blocked: 0)
    #expect(bench.serving.count == 1, "not at once")
    bench.look(blocked: 0, after: 500_000_000)
    #expect(bench.serving.count == 2 && !bench.state.hasWaiting)
  }

  @Test("MX-14: without any thread the requests are handed back")
  func stranded() {
    var state = WorkerPoolState(WorkerPoolConfiguration(processorCount: 1))
    let queue = OperationQueue()
    guard
      case .start(let request) = state.request(.serve(.passUnretained(queue.core)), .own, width: 1)
    else {
      Issue.record("no start")
      return
    }
    #expect(state.startFailed(request, now: 0).count == 1)
    #expect(!state.hasWaiting && state.grantedCount == 0 && state.threadCount == 0)
    guard case .start = state.request(.serve(.passUnretained(queue.core)), .own, width: 1) else {
      Issue.record("the next request is not tried")
      return
    }
  }

  // MARK: Sampler

  @Test("The sampler is started once, rests when no request waits, and is called again")
  func sampler() {
    var bench = Bench(processors: 1)
    _ = bench.state.request(.serve(.passUnretained(Self.queue.core)), .shared)
    #expect(bench.state.samplerCommand() == .nothing)
    _ = bench.state.request(.serve(.passUnretained(Self.queue.core)), .shared)
    #expect(bench.state.samplerCommand() == .start && bench.state.samplerCommand() == .nothing)
    bench = Bench(processors: 1)
    bench.request(2)
    bench.look(blocked: 0)
    bench.finishFirst()
    var looks = 0
    while bench.look(blocked: 0) != .rest { looks += 1 }
    #expect(looks < 5)
    _ = bench.state.request(.serve(.passUnretained(Self.queue.core)), .shared)
    #expect(bench.state.samplerCommand() == .wake && !bench.state.samplerMayEnd())
  }

  @Test("The sampler looks less often while nothing changes, but often enough")
  func backingOff() {
    var bench = Bench(processors: 1)
    bench.request(2)
    var intervals: [Int64] = []
    for _ in 0..<6 {
      guard case .again(let interval) = bench.look(blocked: 0) else { break }
      intervals.append(interval / 1_000_000)
    }
    #expect(intervals == [2, 4, 5, 5, 5, 5])
  }
}

@Suite("ThreadStatus")
struct ThreadStatusTests {
  @Test(
    "The state of a thread is the letter after its name, whatever the name",
    arguments: [
      ("1 (opq) R 1 1", "R"), ("1 (opq) S 1 1", "S"), ("1 (a) S (b) D 1", "D"),
      ("1 (a b) c) R 1", "R"), ("1 (()) S", "S"), ("1 (opq", "R"), ("", "R"), ("1 (opq)", "R"),
      ("1 (opq) ", "R"),
    ])
  func threadState(line: String, letter: String) {
    #expect(ThreadStatus.state(in: Array(line.utf8)) == letter.utf8.first)
  }

  @Test(
    "The processor time of the calling thread grows with what it does, and of none there is none")
  func processorTime() throws {
    let id = csystem_thread_id()
    let before = try #require(ThreadStatus.processorTime(threadID: id))
    var sum = 0
    while let now = ThreadStatus.processorTime(threadID: id), now < before + 2_000_000 { sum += 1 }
    #expect(sum > 0)
    #expect(ThreadStatus.processorTime(threadID: 1 << 27) == nil)
  }
}
