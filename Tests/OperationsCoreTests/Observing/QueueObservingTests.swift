// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The notifications for observers of a queue")
struct QueueObservingTests {
  /// Observes `operations` and `operationCount` of the queue, and logs the old and the new number
  /// for each change.
  private func watchContents(
    of queue: OperationQueue, _ log: EventLog<String>
  ) -> [NSKeyValueObservation] {
    [
      queue.observe(\.operations, options: [.old, .new, .prior]) { _, change in
        if change.isPrior { return log.note("will operations") }
        log.note("operations \(change.oldValue?.count ?? -1)→\(change.newValue?.count ?? -1)")
      },
      queue.observe(\.operationCount, options: [.old, .new, .prior]) { _, change in
        if change.isPrior { return log.note("will operationCount") }
        log.note("operationCount \(change.oldValue ?? -1)→\(change.newValue ?? -1)")
      },
    ]
  }

  private func pair(_ old: Int, _ new: Int) -> [String] {
    [
      "will operations", "will operationCount", "operationCount \(old)→\(new)",
      "operations \(old)→\(new)",
    ]
  }

  /// Lets a thread wait for an operation, calls `finish`, and returns the events in the log when the
  /// thread continues. The wait begins before `finish` is called.
  private func events(
    in log: EventLog<String>, afterWaitingFor operation: Operation, _ finish: () -> Void
  ) -> [String] {
    let events = Monitored<[String]>([])
    let hasContinued = Gate()
    startThread {
      operation.waitUntilFinished()
      events.change { $0 = log.events }
      hasContinued.open()
    }
    while !operation.status.load(ordering: .acquiring).has(.hasWaiters) { sched_yield() }
    finish()
    hasContinued.pass()
    return events.value
  }

  @Test("Q-10: operations and their count are announced once for an operation and for a batch")
  func adding() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let log = EventLog<String>()
      let observations = watchContents(of: queue, log)
      queue.addOperation {}
      #expect(log.events == pair(0, 1))
      queue.addOperations([Operation(), Operation(), Operation()], waitUntilFinished: false)
      #expect(log.events.dropFirst(4) == pair(1, 4)[...])
      queue.addBarrierBlock {}
      #expect(log.events.count == 8, "a barrier is not among the operations")
      for observation in observations { observation.invalidate() }
      queue.cancelAllAndResume()
    }
  }

  @Test("Q-10, WA-5: the removal of an operation is announced before waiters continue")
  func leaving() async throws {
    try await onOwnThread {
      for operation in [BlockOperation {}, PlainSubclass(), LockedAsynchronousOperation()] {
        let queue = OperationQueue()
        let log = EventLog<String>()
        let gate = Gate()
        let first = BlockOperation { gate.pass() }
        first.addDependency(operation)
        queue.addOperation(first)
        let observations = watchContents(of: queue, log)
        // The queue is suspended, because the operation might otherwise leave the queue while its
        // addition is still being announced.
        queue.isSuspended = true
        queue.addOperation(operation)
        let events = events(in: log, afterWaitingFor: operation) { queue.isSuspended = false }
        #expect(events == pair(1, 2) + pair(2, 1))
        let later = self.events(in: log, afterWaitingFor: first) { gate.open() }
        #expect(later.dropFirst(8) == pair(1, 0)[...])
        for observation in observations { observation.invalidate() }
      }
    }
  }

  @Test("WA-5: a wait that begins while a removal is announced ends after the announcement")
  func waitingDuringRemoval() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = BlockOperation {}
      queue.isSuspended = true
      queue.addOperation(operation)
      let (isAnnouncing, mayEnd, hasContinued) = (Gate(), Gate(), Gate())
      let log = EventLog<String>()
      let observation = queue.observe(\.operationCount, options: [.new]) { _, change in
        if change.newValue == 0 {
          isAnnouncing.open()
          mayEnd.pass()
        }
      }
      queue.isSuspended = false
      isAnnouncing.pass()
      startThread {
        operation.waitUntilFinished()
        log.note("continued")
        hasContinued.open()
      }
      while !operation.status.load(ordering: .acquiring).has(.hasWaiters), log.events.isEmpty {
        sched_yield()
      }
      #expect(log.events.isEmpty)
      mayEnd.open()
      hasContinued.pass()
      observation.invalidate()
    }
  }

  @Test("WA-4: an observer of the removal can wait for the removed operation, and returns at once")
  func waitingInObserverOfRemoval() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = BlockOperation {}
      queue.isSuspended = true
      queue.addOperation(operation)
      let log = EventLog<String>()
      let observation = queue.observe(\.operationCount, options: [.new, .prior]) { _, change in
        guard change.isPrior || change.newValue == 0 else { return }
        operation.waitUntilFinished()
        log.note(change.isPrior ? "before" : "after")
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      operation.waitUntilFinished()
      #expect(log.events == ["before", "after"])
      observation.invalidate()
    }
  }

  @Test("Q-10, K-12, K-19: changes of width, suspension, name and quality of service")
  func properties() {
    let queue = OperationQueue()
    let listener = Listener()
    queue.name = "before"
    for key in ["maxConcurrentOperationCount", "suspended", "name", "qualityOfService"] {
      queue.addObserver(listener, forKeyPath: key, options: [.old, .new])
    }
    for _ in 0..<2 {
      queue.maxConcurrentOperationCount = 3
      queue.isSuspended = true
      queue.name = "after"
      queue.qualityOfService = .utility
    }
    #expect(
      listener.log.events == [
        "maxConcurrentOperationCount -1→3", "suspended false→true", "name before→after",
        "qualityOfService default→utility",
      ])
    #expect(queue.value(forKey: "operationCount") as? Int == 0)
    #expect(queue.value(forKey: "suspended") as? Bool == true)
    for key in ["maxConcurrentOperationCount", "suspended", "name", "qualityOfService"] {
      queue.removeObserver(listener, forKeyPath: key)
    }
    queue.isSuspended = false
    #expect(listener.log.events.count == 4)
  }

  @Test("Q-13, K-17: a queue without a name that is given none announces nothing")
  func namelessQueue() {
    let queue = OperationQueue()
    let listener = Listener()
    queue.addObserver(listener, forKeyPath: "name")
    queue.name = nil
    #expect(listener.log.events.isEmpty)
    queue.name = "one"
    queue.name = nil
    #expect(listener.log.events.count == 2)
  }

  @Test("Q-10, K-21: an observer with initial, added at any moment, sees that the queue is empty")
  func noFinalCountIsMissed() async throws {
    try await onOwnThread {
      for round in 0..<Effort.scaled(1_000) {
        let queue = OperationQueue()
        queue.addOperation(round.isMultiple(of: 2) ? BlockOperation {} : PlainSubclass())
        for _ in 0..<(round % 53) { _ = queue.isSuspended }
        let isEmpty = Gate()
        let observation = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
          if change.newValue == 0 { isEmpty.open() }
        }
        guard isEmpty.waitUntilOpen() else { return }
        observation.invalidate()
      }
    }
  }

  @Test("K-24, H-6: an observer may use the queue; a token outlives the queue")
  func observersUseTheQueue() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let added = Atomic<Bool>(false)
      var queue: OperationQueue? = OperationQueue()
      weak let weakly = queue
      let observation = queue?.observe(\.operationCount, options: .new) { queue, change in
        log.note("\(change.newValue ?? -1)")
        guard !added.exchange(true, ordering: .relaxed) else { return }
        queue.maxConcurrentOperationCount = 1
        queue.addOperation { log.note("added by the observer") }
      }
      queue?.addOperation { log.note("first") }
      queue?.waitUntilAllOperationsAreFinished()
      log.wait(for: "0")
      #expect(log.events.contains("first") && log.events.contains("added by the observer"))
      queue = nil
      while weakly != nil { sched_yield() }
      observation?.invalidate()
    }
  }
}
