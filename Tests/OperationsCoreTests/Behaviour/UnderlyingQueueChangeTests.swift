// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Setting the dispatch queue that a queue runs on")
struct UnderlyingQueueChangeTests {
  @Test("MX-9: nil returns to the library's threads; an empty queue may change any number of times")
  func changes() async throws {
    try await onOwnThread {
      let places = [MarkedQueue(), MarkedQueue()]
      let queue = OperationQueue()
      let strays = Atomic<Int>(0)
      // In each round, the dispatch queue is changed directly after the last operation has
      // finished, while a worker still searches for further operations.
      for round in 0..<Effort.scaled(3_000) {
        let place = round % 3 == 0 ? nil : places[round % 3 - 1]
        queue.underlyingQueue = place?.queue
        for _ in 0..<2 {
          queue.addOperation {
            for candidate in places where candidate.isRunningHere != (candidate === place) {
              strays.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(strays.load(ordering: .relaxed) == 0)
      queue.underlyingQueue = nil
      #expect(queue.underlyingQueue == nil)
    }
  }

  @Test("MX-9: a blocked block in a former dispatch queue does not delay the new one")
  func stuckBlock() async throws {
    try await onOwnThread {
      let places = [MarkedQueue(), MarkedQueue()]
      let queue = OperationQueue()
      queue.underlyingQueue = places[0].queue
      places[0].queue.suspend()
      // A block operation that finishes without running its block.
      let finishing = LockedAsynchronousOperation { Issue.record("It was started") }
      queue.addOperation(finishing)
      finishing.cancel()
      queue.waitUntilAllOperationsAreFinished()
      queue.underlyingQueue = places[1].queue
      let log = EventLog<Bool>()
      queue.addOperations(
        [BlockOperation { log.note(places[1].isRunningHere) }], waitUntilFinished: true)
      queue.isSuspended = true
      queue.addOperation { log.note(places[1].isRunningHere) }
      places[0].queue.resume()
      places[0].queue.sync {}
      #expect(log.events == [true])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [true, true])
    }
  }

  @Test("MX-9: setting it while the queue has operations is misuse and changes nothing")
  func whileBusy() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let former = DispatchQueue(label: "former")
      queue.underlyingQueue = former
      queue.isSuspended = true
      queue.addOperation {}
      let mistakes = OperationMisuse.catching {
        queue.underlyingQueue = DispatchQueue(label: "new")
        queue.underlyingQueue = nil
      }
      #expect(mistakes.map(\.kind) == Array(repeating: .setsUnderlyingQueueWhileBusy, count: 2))
      #expect(queue.underlyingQueue === former)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      queue.underlyingQueue = nil
      #expect(queue.underlyingQueue == nil)
    }
  }

  @Test("MX-9: it may be the main dispatch queue, or one that targets that")
  func mainQueue() {
    let queue = OperationQueue()
    #expect(OperationMisuse.catching { queue.underlyingQueue = .main }.isEmpty)
    #expect(queue.underlyingQueue?.label == DispatchQueue.main.label)
    let targeting = DispatchQueue(label: "targets main", target: .main)
    queue.underlyingQueue = targeting
    #expect(queue.underlyingQueue === targeting)
  }

  @Test("PR-7: the level of the dispatch queue, if it has one, overrides the queue's")
  func qualityOfService() {
    let queue = OperationQueue()
    queue.qualityOfService = .background
    queue.underlyingQueue = DispatchQueue(label: "without a level")
    #expect(queue.qualityOfService == .background)
    // `.userInteractive` is omitted, because Dispatch on Linux converts it to `.userInitiated`.
    let levels: [(DispatchQoS, QualityOfService)] = [
      (.background, .background), (.utility, .utility), (.default, .default),
      (.userInitiated, .userInitiated),
    ]
    for (level, expected) in levels {
      queue.underlyingQueue = DispatchQueue(label: "with a level", qos: level)
      #expect(queue.qualityOfService == expected)
    }
    queue.qualityOfService = .utility
    #expect(queue.qualityOfService == .userInitiated)
    queue.underlyingQueue = nil
    #expect(queue.qualityOfService == .utility)
  }

  @Test("PR-7: a set quality of service is kept if it equals that of the underlying queue")
  func equalQualityOfService() {
    let queue = OperationQueue()
    queue.qualityOfService = .background
    queue.underlyingQueue = DispatchQueue(label: "below", qos: .utility)
    queue.qualityOfService = .utility
    queue.underlyingQueue = nil
    #expect(queue.qualityOfService == .utility)
  }

  @Test("PR-7: a queue with the same settings has the quality of service that was set")
  func copiedQualityOfService() {
    let queue = OperationQueue()
    queue.qualityOfService = .background
    queue.underlyingQueue = DispatchQueue(label: "below", qos: .utility)
    let copy = QueueSettings(of: queue).makeQueue()
    #expect(copy.qualityOfService == .utility)
    copy.underlyingQueue = nil
    #expect(copy.qualityOfService == .background)
  }
}
