// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

@Suite("WorkerPoolState and ThreadStatus, without threads")
struct WorkerPoolStateTests {
  private let queues = (0..<5).map { _ in OperationQueue() }

  private func isStart(_ action: WorkerPoolState.Action) -> Bool {
    if case .start = action { return true }
    return false
  }

  private func isNothing(_ action: WorkerPoolState.Action) -> Bool {
    if case .nothing = action { return true }
    return false
  }

  @Test("MX-5: queues of default width share as many workers as there are processors")
  func budget() {
    var state = WorkerPoolState(processorCount: 2)
    #expect(isStart(state.serve(queues[0].core, isBudgeted: true)))
    #expect(isStart(state.serve(queues[1].core, isBudgeted: true)))
    #expect(!state.needsSampling && !state.beginSampling())
    #expect(isNothing(state.serve(queues[2].core, isBudgeted: true)))
    #expect(state.waiting.count == 1 && state.grantedCount == 2)
    #expect(state.beginSampling() && !state.beginSampling(), "one sampler at a time")
  }

  @Test("MX-6: a queue with a width of its own gets a thread at once")
  func ownWidth() {
    var state = WorkerPoolState(processorCount: 1)
    for _ in 0..<100 { #expect(isStart(state.serve(queues[0].core, isBudgeted: false))) }
    #expect(state.grantedCount == 0 && state.waiting.isEmpty)
  }

  @Test("MX-5: who waits longest gets the part that is given back")
  func turns() {
    var state = WorkerPoolState(processorCount: 1)
    for queue in queues { _ = state.serve(queue.core, isBudgeted: true) }
    for queue in queues.dropFirst() { #expect(state.giveBack() === queue.core) }
    #expect(state.grantedCount == 1)
    #expect(state.giveBack() == nil && state.grantedCount == 0)
  }

  @Test("MX-5: blocked workers are made up for, and the surplus is given back afterwards")
  func sampling() {
    var state = WorkerPoolState(processorCount: 1)
    for queue in queues { _ = state.serve(queue.core, isBudgeted: true) }
    #expect(state.beginSampling() == true)
    #expect(state.sampled(blockedCount: 0).actions.isEmpty)
    let (actions, goesOn) = state.sampled(blockedCount: 2)
    #expect(actions.count == 2 && goesOn && state.grantedCount == 3 && !state.isOverBudget)
    #expect(state.sampled(blockedCount: 0).goesOn)
    #expect(state.isOverBudget)
    #expect(state.giveBack() == nil && state.giveBack() == nil && state.grantedCount == 1)
    #expect(!state.isOverBudget)
    #expect(state.giveBack() === queues[3].core)
    #expect(state.giveBack() === queues[4].core)
    #expect(!state.sampled(blockedCount: 1).goesOn && !state.isSampling)
  }

  @Test("A queue whose thread could not be started waits for another")
  func failedStart() {
    var state = WorkerPoolState(processorCount: 2)
    _ = state.serve(queues[0].core, isBudgeted: true)
    state.startFailed(.serve(queues[0].core, isBudgeted: true))
    #expect(state.grantedCount == 0 && state.waiting.count == 1 && state.beginSampling())
    #expect(state.sampled(blockedCount: 0).actions.count == 1)
  }

  @Test("MX-6: a queue of its own width that could get no thread gets one beside the budget")
  func failedStartOfOwnWidth() {
    var state = WorkerPoolState(processorCount: 1)
    _ = state.serve(queues[0].core, isBudgeted: true)
    for queue in queues[1...2] {
      #expect(isStart(state.serve(queue.core, isBudgeted: false)))
      state.startFailed(.serve(queue.core, isBudgeted: false))
    }
    #expect(state.grantedCount == 1 && state.waiting.isEmpty && state.threadless.count == 2)
    #expect(state.beginSampling() == true)
    let (actions, goesOn) = state.sampled(blockedCount: 0)
    let served = actions.compactMap { action -> QueueCore? in
      guard case .start(.serve(let queue, isBudgeted: false)) = action else { return nil }
      return queue
    }
    #expect(served.map(ObjectIdentifier.init) == queues[1...2].map { ObjectIdentifier($0.core) })
    #expect(!goesOn && state.grantedCount == 1 && state.threadless.isEmpty)
  }

  @Test("A sampler that could not be started leaves the waiting as they are, for the next one")
  func failedStartOfSampler() {
    var state = WorkerPoolState(processorCount: 1)
    for queue in queues { _ = state.serve(queue.core, isBudgeted: true) }
    #expect(state.beginSampling() == true)
    state.samplerDidNotStart()
    #expect(state.waiting.count == 4 && state.beginSampling())
  }

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
}
