// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("States, as another thread sees them", .oneAtATime)
struct StateTests {
  /// What a thread has observed of one operation's states, and whether their order was correct.
  private struct Sight {
    var backwards = 0
    var both = 0
    var unready = 0
    private var stage = 0

    /// Reads the operation's state. `isExecuting` is read before `isFinished`: a started operation
    /// that does not execute has finished, so `isFinished` must then be `true`.
    mutating func look(at operation: Operation) {
      let isExecuting = operation.isExecuting
      let isFinished = operation.isFinished
      let isStillExecuting = operation.isExecuting
      let next = isFinished ? 2 : isExecuting ? 1 : 0
      if next < stage { backwards += 1 }
      stage = next
      if isFinished, isStillExecuting { both += 1 }
      if !operation.isReady { unready += 1 }
    }
  }

  private static let kinds: [@Sendable () -> Operation] = [
    { BlockOperation {} }, { PlainSubclass() }, { Operation() },
  ]

  @Test(
    "ST-1, ST-2, ST-3: states advance, and exactly one of executing and finished is true",
    arguments: kinds.indices, [true, false])
  func looker(kind: Int, isQueued: Bool) async throws {
    try await onOwnThread {
      let rounds = Effort.scaled(300)
      let queue = OperationQueue()
      let pace = Pace()
      let box = Monitored<Operation?>(nil)
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          if let operation = box.value {
            if isQueued { queue.addOperation(operation) } else { operation.start() }
          }
          pace.advance(to: 2 * round + 2)
        }
      }
      var sight = Sight()
      for round in 0..<rounds {
        let operation = Self.kinds[kind]()
        box.change { $0 = operation }
        pace.advance(to: 2 * round + 1)
        var own = Sight()
        while !operation.isFinished { own.look(at: operation) }
        own.look(at: operation)
        sight.backwards += own.backwards
        sight.both += own.both
        sight.unready += own.unready
        pace.await(2 * round + 2)
      }
      #expect(sight.backwards == 0 && sight.both == 0 && sight.unready == 0)
    }
  }

  @Test("ST-4: cancelled is possible with executing and finished, and stays")
  func cancelled() async throws {
    try await onOwnThread {
      let log = EventLog<[Bool]>()
      let operation = SelfUsingOperation { operation in
        log.note([operation.isExecuting, operation.isFinished, operation.isCancelled])
        operation.cancel()
        log.note([operation.isExecuting, operation.isFinished, operation.isCancelled])
      }
      operation.start()
      operation.cancel()
      operation.start()
      log.note([operation.isExecuting, operation.isFinished, operation.isCancelled])
      #expect(log.events == [[true, false, false], [true, false, true], [false, true, true]])
    }
  }

  @Test("ST-5: completed and cancelled operations have both finished, in the same state")
  func finishedEitherWay() {
    let done = Operation()
    let cancelled = Operation()
    cancelled.cancel()
    for operation in [done, cancelled] {
      operation.start()
      #expect(operation.isFinished && !operation.isExecuting && operation.isReady)
      #expect(operation.state == .finished)
    }
    #expect(!done.isCancelled && cancelled.isCancelled)
  }
}
