// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Testing

@testable import OperationsCore

@Suite("WorkerPoolState: failures and the sampler, without threads")
struct WorkerPoolSamplingTests {
  private static let queue = OperationQueue()

  // MARK: Failures

  @Test(
    "MX-14: a request whose thread could not be started waits for a worker, or for the next try")
  func failedStart() throws {
    var bench = WorkerPoolBench(processors: 2)
    bench.request()
    bench.look(blocked: 0)
    let request = try bench.requestThread(for: Self.queue)
    #expect(bench.state.startFailed(request, now: 0).stranded.isEmpty, "one worker is there")
    #expect(bench.state.threadCount == 1 && bench.state.grantedCount == 1)
    #expect(bench.state.waitingCount == 1 && bench.state.samplerCommand() == .wake)
    bench.look(blocked: 0)
    #expect(bench.serving.count == 1, "not at once")
    bench.look(blocked: 0, after: 500_000_000)
    #expect(bench.serving.count == 2 && !bench.state.hasWaiting)
  }

  @Test("MX-14: without any thread, the requests are returned")
  func stranded() {
    var state = WorkerPoolState(WorkerPoolConfiguration(processorCount: 1))
    let queue = OperationQueue()
    guard
      case .start(let request) = state.request(.serve(.passUnretained(queue.core)), .own, width: 1)
    else {
      Issue.record("no start")
      return
    }
    #expect(state.startFailed(request, now: 0).stranded.count == 1)
    #expect(!state.hasWaiting && state.grantedCount == 0 && state.threadCount == 0)
    guard case .start = state.request(.serve(.passUnretained(queue.core)), .own, width: 1) else {
      Issue.record("the next request is not tried")
      return
    }
  }

  // MARK: Sampler

  @Test("MX-14: a worker that becomes idle serves a request that could not get a thread")
  func failureBesideIdleWorker() throws {
    var bench = WorkerPoolBench(processors: 2)
    bench.request()
    let request = try bench.requestThread(for: Self.queue)
    #expect(!bench.finishFirst() && bench.state.idle.count == 1)
    let (action, stranded) = bench.state.startFailed(request, now: 0)
    bench.perform(action)
    #expect(bench.serving.count == 1 && !bench.state.hasWaiting && stranded.isEmpty)
  }

  @Test("MX-14: samples become rare while threads cannot be started")
  func refusedThreads() throws {
    var bench = WorkerPoolBench(processors: 2)
    bench.request()
    let request = try bench.requestThread(for: Self.queue)
    // After seven consecutive failures to start a thread, the pool makes the next attempt half a
    // second later.
    bench.refuse(request, times: 7)
    var intervals: [Int64] = []
    var wait: Int64 = 1_000_000
    while bench.serving.count == 1, intervals.count < 1_000 {
      guard case .again(let interval) = bench.look(blocked: 0, after: wait) else { break }
      intervals.append(interval / 1_000_000)
      wait = interval
    }
    #expect(bench.serving.count == 2 && intervals.count < 20, "\(intervals)")
    #expect(intervals.contains(80), "\(intervals)")
  }

  @Test("MX-14: the sampler is tried again after a pause, which grows")
  func refusedSampler() {
    var bench = WorkerPoolBench(processors: 1)
    _ = bench.state.request(.serve(.passUnretained(Self.queue.core)), .shared)
    #expect(bench.state.samplerCommand() == .start)
    #expect(bench.state.samplerDidNotStart(now: 0).isEmpty && bench.state.lacksSampler)
    for _ in 0..<10 {
      _ = bench.state.request(.serve(.passUnretained(Self.queue.core)), .shared)
      #expect(bench.state.samplerCommand() == .nothing)
    }
    _ = bench.state.retry(now: 9_999_999)
    #expect(bench.state.samplerCommand() == .nothing)
    _ = bench.state.retry(now: 10_000_000)
    #expect(bench.state.samplerCommand() == .start && !bench.state.lacksSampler)
    _ = bench.state.samplerDidNotStart(now: 10_000_000)
    _ = bench.state.retry(now: 29_999_999)
    #expect(bench.state.samplerCommand() == .nothing)
    bench.state.samplerBegan()
    #expect(bench.state.samplerCommand() == .start)
  }

  @Test("The sampler is started before the first worker, and rests while no request waits")
  func sampler() throws {
    var bench = WorkerPoolBench(processors: 1)
    _ = try bench.requestThread(for: Self.queue)
    #expect(bench.state.samplerCommand() == .start && bench.state.samplerCommand() == .nothing)
    #expect(bench.look(blocked: 0) == .rest)
    _ = bench.state.request(.serve(.passUnretained(Self.queue.core)), .shared)
    #expect(bench.state.samplerCommand() == .wake && bench.state.samplerCommand() == .nothing)
    bench = WorkerPoolBench(processors: 1)
    bench.request(2)
    bench.look(blocked: 0)
    bench.finishFirst()
    var looks = 0
    while bench.look(blocked: 0) != .rest { looks += 1 }
    #expect(looks < 5)
  }

  @Test("MX-5: at the limit the sampler sleeps long, and is woken when threads can be added again")
  func wakingAfterLimit() {
    var bench = WorkerPoolBench(processors: 2, limit: 4)
    bench.request(100)
    for _ in 0..<20 { bench.look(blocked: 2) }
    #expect(bench.serving.count == 4)
    #expect(bench.look(blocked: 2) == .again(afterNanoseconds: 80_000_000))
    #expect(bench.state.samplerCommand() == .nothing)
    let isReused = bench.finishFirst()
    #expect(!isReused, "another request is within the limit, and beyond the budget")
    #expect(bench.state.samplerCommand() == .wake && bench.state.samplerCommand() == .nothing)
    #expect(bench.look(blocked: 1) == .again(afterNanoseconds: 2_000_000))
  }

  @Test("MX-5: a completion block that cannot get a thread does not keep the sampler busy")
  func waitingCompletionAtLimit() {
    var bench = WorkerPoolBench(processors: 2, limit: 4)
    bench.request(100)
    for _ in 0..<20 { bench.look(blocked: 2) }
    bench.request(2, .completion)
    #expect(bench.serving.count == 5, "one completion block is served beyond the limit")
    for _ in 0..<20 { bench.look(blocked: 5) }
    #expect(bench.serving.count == 5)
    #expect(bench.look(blocked: 5) == .again(afterNanoseconds: 80_000_000))
  }

  @Test("MX-14: the sampler is woken when threads are no longer refused")
  func wakingAfterRefusals() throws {
    var bench = WorkerPoolBench(processors: 2)
    bench.request()
    let request = try bench.requestThread(for: Self.queue)
    bench.refuse(request, times: 7)
    for _ in 0..<8 { bench.look(blocked: 0) }
    bench.request()
    #expect(bench.state.samplerCommand() == .nothing)
    bench.state.joined(bench.serving[0].worker)
    #expect(bench.state.samplerCommand() == .wake)
  }

  @Test("The sampler ends after the last worker")
  func lastWorker() {
    var bench = WorkerPoolBench(processors: 1)
    bench.request()
    #expect(bench.look(blocked: 0) == .rest)
    let worker = bench.serving[0].worker
    #expect(!bench.finishFirst() && bench.state.samplerCommand() == .nothing)
    #expect(bench.state.dismiss(worker) && bench.state.samplerCommand() == .wake)
    #expect(bench.look(blocked: 0) == .end)
    bench.request()
    #expect(bench.serving.count == 1 && bench.look(blocked: 0) == .rest)
  }

  @Test("The sampler samples less often while nothing changes, within a limit")
  func backingOff() {
    var bench = WorkerPoolBench(processors: 1)
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
    "The processor time of the calling thread grows with its work")
  func processorTime() throws {
    let id = csystem_thread_id()
    let before = try #require(ThreadStatus.processorTime(threadID: id))
    var sum = 0
    while let now = ThreadStatus.processorTime(threadID: id), now < before + 2_000_000 { sum += 1 }
    #expect(sum > 0)
    #expect(ThreadStatus.processorTime(threadID: 1 << 27) == nil)
  }

  @Test("MX-5: a thread does not count as running if /proc is not mounted")
  func withoutFileSystem() {
    let id = csystem_thread_id()
    #expect(ThreadStatus.isBlocked(threadID: id) == false)
    #expect(ThreadStatus.isBlocked(threadID: id, below: "/nonexistent/task") == nil)
  }
}

@Suite("Lingering")
struct LingeringTests {
  @Test("MX-6: a worker counts as blocked if its operation finished 4 ms ago and has not returned")
  func longLingering() {
    let lingering = Lingering()
    // The macro `#expect` cannot copy the value, so it gets the results only.
    let results = [1_000_000, 4_999_999, 5_000_000].map { lingering.isLong(at: 7, now: $0) }
    #expect(results == [false, false, true])
  }

  @Test("MX-6: the time begins with each operation of the worker")
  func eachOperation() {
    let lingering = Lingering()
    let results = [
      lingering.isLong(at: 7, now: 1_000_000), lingering.isLong(at: 9, now: 9_000_000),
      lingering.isLong(at: 9, now: 13_000_000),
    ]
    #expect(results == [false, false, true])
    let wasLong = [lingering.wasLong(at: 9), lingering.wasLong(at: 7)]
    #expect(wasLong == [true, false])
  }
}
