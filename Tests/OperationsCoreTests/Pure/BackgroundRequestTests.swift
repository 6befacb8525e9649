// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

@Suite("The threads that a pool gives to background queues")
struct BackgroundRequestTests {
  private func lanes(_ bench: WorkerPoolBench) -> [WorkerPoolState.Lane] {
    bench.serving.map(\.request.lane)
  }

  @Test("PR-11: background requests use the same budget, and wait behind all other requests")
  func budget() {
    var bench = WorkerPoolBench(processors: 2)
    bench.request(2, .backgroundShared)
    #expect(bench.state.grantedCount == 2)
    bench.request(1, .backgroundShared)
    bench.request(1, .shared)
    #expect(bench.state.grantedCount == 2 && bench.state.waitingCount == 2)
    bench.finishFirst()
    #expect(lanes(bench) == [.backgroundShared, .shared])
    #expect(bench.state.idleInBackground.count == 1 && bench.state.idle.isEmpty)
    bench.finishFirst()
    #expect(lanes(bench) == [.shared, .backgroundShared])
  }

  @Test("PR-11: a request that has waited for 100 ms comes before the others, once")
  func patience() {
    var bench = WorkerPoolBench(processors: 1)
    bench.request(4, .shared)
    bench.request(2, .backgroundShared)
    for _ in 0..<2 { bench.look(blocked: 0, progress: 1, after: 60_000_000) }
    #expect(!bench.state.isBackgroundDue)
    bench.look(blocked: 0, progress: 2, after: 60_000_000)
    #expect(bench.state.isBackgroundDue)
    bench.finishFirst()
    #expect(lanes(bench) == [.backgroundShared] && !bench.state.isBackgroundDue)
    bench.finishFirst()
    #expect(lanes(bench) == [.shared])
  }

  @Test("PR-11: a thread of one kind never serves a request of the other kind")
  func kinds() {
    var bench = WorkerPoolBench(processors: 1)
    bench.request(1, .shared)
    bench.finishFirst()
    bench.request(1, .backgroundShared)
    #expect(bench.state.threadCount == 2 && bench.state.idle.count == 1)
    bench.finishFirst()
    bench.request(1, .own, width: 1)
    #expect(bench.state.threadCount == 2 && bench.state.idleInBackground.count == 1)
    #expect(bench.serving.allSatisfy { !$0.worker.isInBackground })
  }

  @Test("PR-11: at the limit, idle threads of the other kind make room")
  func limit() {
    var bench = WorkerPoolBench(processors: 4, limit: 4)
    bench.request(4, .own, width: 4)
    bench.request(1, .duty)
    bench.request(1, .completion)
    for _ in 0..<6 { bench.finishFirst() }
    #expect(bench.state.idle.count == 6)
    bench.request(4, .backgroundOwn, width: 4)
    #expect(bench.state.threadCount == 6 && bench.state.grantedCount == 4)
    #expect(bench.serving.allSatisfy { $0.worker.isInBackground })
    for _ in 0..<4 { bench.finishFirst() }
    bench.request(4, .own, width: 4)
    #expect(bench.state.threadCount == 6 && bench.state.grantedCount == 4)
    #expect(bench.serving.allSatisfy { !$0.worker.isInBackground })
  }

  @Test("PR-11: if the system refuses a thread, an idle thread in the background makes room")
  func refusal() throws {
    let queue = OperationQueue()
    var bench = WorkerPoolBench(processors: 2)
    bench.request(1, .backgroundShared)
    bench.finishFirst()
    let request = try bench.requestThread(for: queue)
    #expect(bench.state.threadCount == 2 && bench.state.idleInBackground.count == 1)
    let (action, stranded) = bench.state.startFailed(request, now: 0)
    bench.perform(action)
    #expect(lanes(bench) == [.shared] && bench.serving.allSatisfy { !$0.worker.isInBackground })
    #expect(bench.state.threadCount == 1 && bench.state.idleInBackground.isEmpty)
    #expect(bench.state.waitingCount == 0 && stranded.isEmpty)
    withExtendedLifetime(queue) {}
  }
}
