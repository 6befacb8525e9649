// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Changes and states as asynchronous sequences")
struct ChangesTests {
  @Test("ST-1: states has the current state and each later one, and ends after finished")
  func statesOfARun() async {
    let operation = PlainSubclass()
    let dependency = Operation()
    operation.addDependency(dependency)
    let states = operation.states
    dependency.start()
    operation.start()
    var seen: [OperationState] = []
    for await state in states { seen.append(state) }
    #expect(seen == [.waiting, .ready, .executing, .finished])
  }

  @Test(
    "A finished operation has only the state finished; a cancelled one skips executing")
  func statesOfOnesThatAreOver() async {
    let finished = BlockOperation {}
    finished.start()
    let cancelled = BlockOperation {}
    cancelled.cancel()
    let states = [finished.states, cancelled.states]
    cancelled.start()
    var seen: [[OperationState]] = []
    for sequence in states {
      var all: [OperationState] = []
      for await state in sequence { all.append(state) }
      seen.append(all)
    }
    #expect(seen == [[.finished], [.ready, .finished]])
  }

  @Test("States of an asynchronous subclass in a queue arrive in order and end")
  func statesInAQueue() async {
    let queue = OperationQueue()
    for _ in 0..<50 {
      let operation = LockedAsynchronousOperation()
      let states = operation.states
      queue.addOperation(operation)
      var seen: [OperationState] = []
      for await state in states { seen.append(state) }
      #expect(seen == [.ready, .executing, .finished])
    }
  }

  @Test("States end when the operation is released before it has finished")
  func statesOfOneThatGoesAway() async {
    var operation: Operation? = Operation()
    weak let weakly = operation
    let states = operation?.states
    operation = nil
    #expect(weakly == nil, "being watched does not keep it alive")
    var seen: [OperationState] = []
    if let states { for await state in states { seen.append(state) } }
    #expect(seen == [.ready])
  }

  @Test("A late reader gets the newest change, and the end when the operation is released")
  func changesOfAProperty() async {
    var operation: Operation? = Operation()
    let changes = operation?.changes(of: \.queuePriority, options: [.initial, .new, .old])
    operation?.queuePriority = .high
    operation?.queuePriority = .veryLow
    operation = nil
    var seen: [[Operation.QueuePriority?]] = []
    if let changes {
      for await change in changes { seen.append([change.oldValue, change.newValue]) }
    }
    #expect(seen == [[.high, .veryLow]])
  }

  @Test("Changes of a subclass's own property are reported by its key path")
  func changesOfAnOwnProperty() async {
    final class Station: Operation, @unchecked Sendable {
      private let number = Monitored(1)
      var frequency: Int {
        get { number.value }
        set {
          willChangeValue(for: \.frequency)
          number.change { $0 = newValue }
          didChangeValue(for: \.frequency)
        }
      }
    }
    let station = Station()
    let changes = station.changes(of: \.frequency)
    station.frequency = 5
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(change?.oldValue == 1 && change?.newValue == 5)
  }
}
