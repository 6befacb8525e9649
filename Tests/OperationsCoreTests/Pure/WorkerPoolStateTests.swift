// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

@Suite("WorkerPoolState, without threads")
struct WorkerPoolStateTests {
  @Test(
    "MX-5, MX-6: queues of any width share as many workers as there are processors",
    arguments: [WorkerPoolState.Lane.shared, .own])
  func budget(lane: WorkerPoolState.Lane) {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(2, lane)
    #expect(bench.serving.count == 2 && !bench.state.hasWaiting)
    bench.request(98, lane)
    #expect(bench.serving.count == 2 && bench.state.waitingCount == 98)
    for _ in 0..<10 { bench.look(blocked: 0) }
    #expect(bench.serving.count == 2 && bench.state.threadCount == 2)
  }

  @Test("MX-5: the request that has waited longest is served next")
  func turns() {
    var bench = WorkerPoolBench(processors: 1)
    bench.request(2)
    bench.request(1, .own)
    bench.request(1)
    var lanes: [WorkerPoolState.Lane] = []
    while bench.finishFirst() { lanes.append(bench.serving[0].request.lane) }
    #expect(lanes == [.shared, .own, .shared])
    #expect(bench.state.grantedCount == 0 && bench.state.idle.count == 1)
  }

  @Test("MX-5: the summary of the waiting requests shows whether only one queue waits")
  func summary() {
    var bench = WorkerPoolBench(processors: 1, queueCount: 2)
    bench.request(of: 0)
    #expect(bench.state.waitingSummary == 0)
    bench.request(of: 1)
    #expect(bench.state.waitingSummary == UInt(bitPattern: bench.address(of: 1)))
    bench.request(of: 0)
    #expect(bench.state.waitingSummary == 1)
    bench.finishFirst()
    #expect(bench.state.waitingSummary == UInt(bitPattern: bench.address(of: 0)))
  }

  @Test("MX-5: blocked workers are replaced, and the surplus is removed afterwards")
  func sampling() {
    var bench = WorkerPoolBench(processors: 1)
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

  @Test("MX-5: a worker whose operation has returned is no longer replaced")
  func returnedWorker() {
    var bench = WorkerPoolBench(processors: 1)
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
    var bench = WorkerPoolBench(processors: 2)
    bench.request(1_000, .own, width: 1_000)
    var looks = 0
    while bench.serving.count < 1_000, looks < 100 {
      bench.look(blocked: bench.serving.count)
      looks += 1
    }
    #expect(bench.serving.count == 1_000 && looks <= 10)
  }

  @Test("MX-5: a default-width queue gets at most one running worker per processor meanwhile")
  func noGrowthOfSharedLane() {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(1_000)
    for blocked in stride(from: 2, through: 20, by: 2) {
      bench.look(blocked: blocked)
      #expect(bench.serving.count == blocked + 2)
    }
  }

  @Test("MX-6: if nothing has moved for 20 ms, a queue with its own width gets one more thread")
  func stall() {
    var bench = WorkerPoolBench(processors: 2)
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
    var shared = WorkerPoolBench(processors: 1)
    shared.request(3)
    for _ in 0..<100 { shared.look(blocked: 0) }
    #expect(shared.serving.count == 1, "not a queue of default width")
  }

  @Test(
    "Duties and completion blocks get one worker each beyond the budget",
    arguments: [WorkerPoolState.Lane.duty, .completion])
  func surplus(lane: WorkerPoolState.Lane) {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(3)
    bench.request(2, lane)
    #expect(bench.serving.map(\.request.lane) == [.shared, .shared, lane])
    #expect(!bench.state.isOverBudget)
    bench.finishFirst()
    #expect(bench.serving.map(\.request.lane) == [.shared, lane, lane], "before others")
    bench.finishFirst()
    bench.finishFirst()
    #expect(bench.serving.map(\.request.lane) == [lane, .shared] && bench.state.surplusCount == 0)
  }

  @Test("A duty does not wait for completion blocks")
  func dutyBesideCompletions() {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(2)
    bench.request(10, .completion)
    for _ in 0..<100 { bench.look(blocked: 0) }
    let count = bench.serving.count
    bench.request(1, .duty)
    #expect(bench.serving.count == count + 1 && bench.serving.last?.request.lane == .duty)
  }

  @Test(
    "A duty or a completion block that has waited for 5 ms gets a worker, up to sixteen in all",
    arguments: [WorkerPoolState.Lane.duty, .completion])
  func longDuties(lane: WorkerPoolState.Lane) {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(2)
    bench.request(20, lane)
    #expect(bench.serving.count == 3)
    bench.look(blocked: 0)
    bench.look(blocked: 0, after: 4_000_000)
    #expect(bench.serving.count == 3)
    bench.look(blocked: 0)
    #expect(bench.serving.count == 4)
    for _ in 0..<100 { bench.look(blocked: 0) }
    #expect(bench.serving.count == 18)
    while bench.state.hasWaiting || bench.serving.count > 2 { bench.finish(2) }
    bench.look(blocked: 0)
    bench.request(2, lane)
    #expect(bench.serving.count == 3, "one again")
  }

  @Test(
    "A duty or a completion block gets a worker after 5 ms, however many slow ones are served",
    arguments: [WorkerPoolState.Lane.duty, .completion])
  func dutyBehindSlowOnes(lane: WorkerPoolState.Lane) {
    var bench = WorkerPoolBench(processors: 8)
    bench.request(8)
    bench.request(5, lane)
    for _ in 0..<100 { bench.look(blocked: 0) }
    #expect(bench.serving.count == 13)
    // The pool takes one sample of its threads before the next request, so that no request waits at
    // this time.
    bench.look(blocked: 0)
    bench.request(1, lane)
    bench.look(blocked: 0)
    #expect(bench.serving.count == 13)
    bench.look(blocked: 0, after: 5_000_000)
    #expect(bench.serving.count == 14)
  }

  // MARK: Widths

  @Test("MX-13: a waiting request gets the lane and the limit of the queue's new width")
  func changedWidth() {
    var bench = WorkerPoolBench(processors: 2, queueCount: 2)
    bench.request(2)
    bench.request(1, .shared, of: 1)
    bench.request(1, .own)
    bench.change(widthOf: 1, to: 600, .own)
    #expect(bench.state.threadLimit == 602 && bench.state.waitingCount == 2)
    bench.look(blocked: 2)
    #expect(bench.serving.map(\.request.lane) == [.shared, .shared, .own, .own])
    #expect(
      bench.serving[2].request.job.summary == UInt(bitPattern: bench.address(of: 1)),
      "its turn is the same")
    bench.request(1, .own, of: 1)
    bench.change(widthOf: 1, to: -1, .shared)
    bench.finish(3)
    #expect(bench.serving.last?.request.lane == .shared && bench.state.threadLimit == 602)
  }

  // MARK: Limit

  @Test(
    "MX-13: there are at most 512 threads, or those of the widest queue and the processors",
    arguments: [
      (-1, 512), (510, 512), (511, 513), (2_000, 2_002), (.max, 512),
    ])
  func limit(width: Int, limit: Int) {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(limit + 10, width < 0 ? .shared : .own, width: width)
    var hasReport = false
    for _ in 0..<(2 * limit) where !bench.state.isAtLimit {
      bench.look(blocked: bench.serving.count)
      if bench.state.takeLimitReport() { hasReport = true }
    }
    #expect(bench.state.threadLimit == limit && bench.serving.count == limit)
    #expect(bench.state.isAtLimit && bench.state.waitingCount == 10)
    #expect(hasReport && !bench.state.takeLimitReport(), "one report")
    for _ in 0..<10 { bench.look(blocked: limit) }
    #expect(
      bench.look(blocked: limit) == .again(afterNanoseconds: 80_000_000),
      "there is little that it could do")
    #expect(bench.finishFirst() && bench.state.waitingCount == 9, "it is served by those there are")
  }

  @Test(
    "MX-13: each width but the greatest number raises the limit",
    arguments: [(65_537, 65_539), (100_000, 100_002), (.max - 1, .max - 2), (.max, 512)])
  func greatWidths(width: Int, limit: Int) {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(1, .own, width: width)
    #expect(bench.state.threadLimit == limit)
    bench.request(1, .own, width: 3)
    #expect(bench.state.threadLimit == limit, "the widest counts")
  }

  @Test("MX-13: requests that wait for processors alone are not a limit that is reached")
  func noFalseReport() {
    var bench = WorkerPoolBench(processors: 2, limit: 2)
    bench.request(5)
    bench.request(5, .own, width: 5)
    for _ in 0..<10 { bench.look(blocked: 0) }
    #expect(!bench.state.isAtLimit && !bench.state.takeLimitReport())
    bench.look(blocked: 1)
    #expect(bench.state.isAtLimit && bench.state.takeLimitReport())
  }

  @Test("MX-13: at the limit, the sampler continues, and subtracts workers that run again")
  func looksAtLimit() {
    var bench = WorkerPoolBench(processors: 2, limit: 4)
    bench.request(100)
    for _ in 0..<10 { bench.look(blocked: bench.serving.count) }
    #expect(bench.state.isAtLimit && !bench.state.isOverBudget && bench.state.blockedCount == 4)
    guard case .again = bench.look(blocked: 0) else {
      Issue.record("The sampler rests")
      return
    }
    #expect(bench.state.isOverBudget)
  }

  @Test(
    "At the limit, a duty and a completion block get one more thread each")
  func reserve() {
    var bench = WorkerPoolBench(processors: 2, limit: 2)
    bench.request(2)
    bench.look(blocked: 2)
    bench.request(2, .duty)
    bench.request(2, .completion)
    #expect(bench.serving.map(\.request.lane) == [.shared, .shared, .duty, .completion])
    for _ in 0..<100 { bench.look(blocked: 2) }
    #expect(bench.serving.count == 4 && bench.state.threadCount == 4)
    // The threads that are reserved for duties (tasks of the library) and completion blocks do not
    // serve operations.
    bench.request(2)
    for _ in 0..<4 {
      let index = bench.serving.firstIndex { !$0.request.lane.isForOperations }
      if let index { bench.finish(index) }
    }
    #expect(bench.serving.map(\.request.lane) == [.shared, .shared])
    #expect(bench.state.waitingCount == 2 && bench.state.idle.count == 2)
  }

  @Test("MX-13: a limit that was set is not raised by a wide queue")
  func configuredLimit() {
    var bench = WorkerPoolBench(processors: 2, limit: 4)
    bench.request(100, .own, width: 100)
    for _ in 0..<10 { bench.look(blocked: bench.serving.count) }
    #expect(bench.serving.count == 4 && bench.state.isAtLimit)
  }
}
