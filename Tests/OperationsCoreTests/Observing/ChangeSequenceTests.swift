// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("The notifications for each change")
struct ChangeSequenceTests {
  /// The two kinds of operations for which the library has different code: plain block operations
  /// and subclasses.
  enum Kind: CaseIterable { case plainBlock, subclass }

  private func make(
    _ kind: Kind, _ work: @escaping @Sendable () -> Void = {}
  ) -> Operation {
    kind == .plainBlock ? BlockOperation(block: work) : PlainSubclass(work: work)
  }

  private static let run = [
    "will isExecuting", "isExecuting false→true", "main", "will isExecuting", "will isFinished",
    "isExecuting true→false", "isFinished false→true",
  ]

  @Test("K-1: start announces executing, then both changes of the finish", arguments: Kind.allCases)
  func startByHand(kind: Kind) {
    let box = Monitored<ChangeLog?>(nil)
    let operation = make(kind) { box.value?.note("main") }
    let log = ChangeLog(operation)
    box.change { $0 = log }
    operation.start()
    #expect(log.events == Self.run)
  }

  @Test("F-19, K-1: a queue announces the same changes", arguments: Kind.allCases)
  func startByAQueue(kind: Kind) async throws {
    try await onOwnThread {
      let box = Monitored<ChangeLog?>(nil)
      let operation = make(kind) { box.value?.note("main") }
      let log = ChangeLog(operation)
      box.change { $0 = log }
      let queue = OperationQueue()
      queue.addOperation(operation)
      operation.waitUntilFinished()
      #expect(log.events == Self.run)
    }
  }

  @Test("K-1, WA-5: observers of the finish come before dependents, queue, waiters and completion")
  func theFinishIsAnnouncedFirst() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let queue = OperationQueue()
      let operation = PlainSubclass()
      let dependent = BlockOperation { log.note("dependent") }
      dependent.addDependency(operation)
      operation.completionBlock = { log.note("completion") }
      let gate = Gate()
      let observation = operation.observe(\.isFinished) { operation, _ in
        log.note("observer, \(queue.operationCount) in the queue")
        gate.pass()
      }
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      startThread {
        operation.waitUntilFinished()
        log.note("waiter")
      }
      gate.waitForArrivals(1)
      #expect(log.events == ["observer, 2 in the queue"])
      gate.open()
      log.wait(forCount: 4)
      #expect(log.events.first == "observer, 2 in the queue")
      observation.invalidate()
    }
  }

  @Test("F-19, K-2, K-4: cancelled when ready, it announces that and isReady, then only its finish")
  func cancelledWhileReady() {
    for kind in Kind.allCases {
      let operation = make(kind)
      let log = ChangeLog(operation)
      operation.cancel()
      #expect(
        log.events == [
          "will isCancelled", "isCancelled false→true", "will isReady", "isReady true→true",
        ])
      operation.start()
      #expect(log.events.dropFirst(4) == ["will isFinished", "isFinished false→true"])
    }
  }

  @Test("K-3, K-4: cancelled while it waits, it announces that and then that it is ready")
  func cancelledWhileWaiting() {
    for kind in Kind.allCases {
      let operation = make(kind)
      operation.addDependency(Operation())
      let log = ChangeLog(operation)
      operation.cancel()
      #expect(
        log.events == [
          "will isCancelled", "isCancelled false→true", "will isReady", "isReady false→true",
        ])
      operation.start()
      #expect(log.events.dropFirst(4) == ["will isFinished", "isFinished false→true"])
    }
  }

  @Test("K-5: cancelled while it executes, it announces that, and later its usual finish")
  func cancelledWhileExecuting() {
    for kind in Kind.allCases {
      let box = Monitored<Operation?>(nil)
      let operation = make(kind) { box.value?.cancel() }
      box.change { $0 = operation }
      let log = ChangeLog(operation)
      operation.start()
      var expected = Self.run
      expected.replaceSubrange(2...2, with: ["will isCancelled", "isCancelled false→true"])
      #expect(log.events == expected)
      box.change { $0 = nil }
    }
  }

  @Test("K-6: cancelling a finished or cancelled operation announces nothing")
  func cancelWithoutEffect() {
    for kind in Kind.allCases {
      let finished = make(kind)
      finished.start()
      let cancelled = make(kind)
      cancelled.cancel()
      let logs = [ChangeLog(finished), ChangeLog(cancelled)]
      finished.cancel()
      cancelled.cancel()
      #expect(logs.flatMap(\.events) == [])
    }
  }

  @Test("K-7, K-8, K-9: adding dependencies announces them, and readiness if it changes")
  func addingDependencies() {
    for kind in Kind.allCases {
      let operation = make(kind)
      let log = ChangeLog(operation)
      let first = Operation()
      operation.addDependency(first)
      #expect(
        log.events == [
          "will dependencies", "will isReady", "isReady true→false", "dependencies 0→1",
        ])
      operation.addDependency(first)
      #expect(log.events.count == 4, "K-9: a duplicate")
      operation.addDependency(Operation())
      #expect(log.events.dropFirst(4) == ["will dependencies", "dependencies 1→2"])
    }
  }

  @Test("K-8: a dependency that cannot delay it changes only the dependencies")
  func addingDependenciesWithoutEffect() {
    for kind in Kind.allCases {
      let finished = Operation()
      finished.start()
      let cancelled = make(kind)
      cancelled.cancel()
      let over = make(kind)
      over.start()
      for (operation, dependency) in [
        (make(kind), finished), (cancelled, Operation()), (over, Operation()),
      ] {
        let log = ChangeLog(operation)
        operation.addDependency(dependency)
        #expect(log.events == ["will dependencies", "dependencies 0→1"])
      }
    }
  }

  @Test("K-10, CA-9: the finish of the last dependency makes it ready, once, on that thread")
  func theLastDependencyFinishes() {
    for kind in Kind.allCases {
      let first = Operation()
      let second = PlainSubclass()
      let operation = make(kind)
      operation.addDependency(first)
      operation.addDependency(second)
      let log = ChangeLog(operation)
      let finish = second.observe(\.isFinished) { _, _ in log.note("dependency finished") }
      first.start()
      second.cancel()
      #expect(log.events.isEmpty)
      second.start()
      #expect(log.events == ["dependency finished", "will isReady", "isReady false→true"])
      finish.invalidate()
    }
  }

  @Test("K-10: readiness is announced once if all dependencies finish at the same time")
  func dependenciesFinishAtOnce() async throws {
    try await onOwnThread {
      for round in 0..<Effort.scaled(300) {
        let dependencies = (0..<4).map { _ in PlainSubclass() }
        let operation = make(round.isMultiple(of: 2) ? .plainBlock : .subclass)
        for dependency in dependencies { operation.addDependency(dependency) }
        let log = ChangeLog(operation)
        onThreads(4) { dependencies[$0].start() }
        #expect(log.events == ["will isReady", "isReady false→true"])
      }
    }
  }

  @Test("K-10: a queue does not start it before its observers are notified that it is ready")
  func announcedBeforeItStarts() async throws {
    try await onOwnThread {
      for kind in Kind.allCases {
        let log = EventLog<String>()
        let queue = OperationQueue()
        let dependency = PlainSubclass()
        let operation = make(kind) { log.note("main") }
        operation.addDependency(dependency)
        let gate = Gate()
        let observation = operation.observe(\.isReady, options: .new) { _, change in
          gate.pass()
          log.note("ready \(change.newValue == true)")
        }
        queue.addOperations([operation, dependency], waitUntilFinished: false)
        gate.waitForArrivals(1)
        #expect(queue.operationCount == 2 && log.events.isEmpty)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == ["ready true", "main"])
        observation.invalidate()
      }
    }
  }

  @Test("K-9, K-11: removing the last unfinished dependency announces both")
  func removingDependencies() {
    for kind in Kind.allCases {
      let operation = make(kind)
      let dependencies = [Operation(), Operation()]
      for dependency in dependencies { operation.addDependency(dependency) }
      let log = ChangeLog(operation)
      operation.removeDependency(Operation())
      #expect(log.events.isEmpty)
      operation.removeDependency(dependencies[0])
      #expect(log.events == ["will dependencies", "dependencies 2→1"])
      operation.removeDependency(dependencies[1])
      #expect(
        log.events.dropFirst(2) == [
          "will dependencies", "will isReady", "isReady false→true", "dependencies 1→0",
        ])
    }
  }

  @Test("K-12, PR-5: a new priority is announced, the same one is not")
  func settingThePriority() {
    for kind in Kind.allCases {
      let operation = make(kind)
      let log = ChangeLog(operation)
      operation.queuePriority = .high
      operation.queuePriority = .high
      #expect(log.events == ["will queuePriority", "queuePriority normal→high"])
    }
  }

  @Test("K-13, CB-7: setting and clearing the completion block is announced")
  func settingTheCompletionBlock() async throws {
    try await onOwnThread {
      for kind in Kind.allCases {
        let operation = make(kind)
        let done = Gate()
        let log = ChangeLog(operation)
        operation.completionBlock = { done.open() }
        #expect(log.events == ["will completionBlock", "completionBlock nil→block"])
        operation.start()
        #expect(done.waitUntilOpen())
        #expect(log.events.suffix(2) == ["will completionBlock", "completionBlock block→nil"])
      }
    }
  }

  @Test("K-16: when isExecuting becomes false, isFinished is already true")
  func finishedWhenNoLongerExecuting() {
    let operation = PlainSubclass()
    let log = EventLog<Bool>()
    let observation = operation.observe(\.isExecuting, options: .new) { operation, change in
      if change.newValue == false { log.note(operation.isFinished) }
    }
    operation.start()
    #expect(log.events == [true])
    observation.invalidate()
  }

  @Test("K-14, K-16: a subclass's own order of announcing its finish is kept")
  func aSubclassAnnouncesItsFinish() async throws {
    try await onOwnThread {
      let operation = LockedAsynchronousOperation()
      let log = ChangeLog(operation)
      operation.start()
      operation.waitUntilFinished()
      #expect(
        log.events == [
          "will isExecuting", "isExecuting false→true", "will isFinished", "will isExecuting",
          "isExecuting true→false", "isFinished false→true",
        ])
    }
  }

  @Test("K-15, D-10: a subclass that finishes on cancel before its start leaves the queue")
  func aSubclassFinishesOnCancel() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = LockedAsynchronousOperation()
      let log = ChangeLog(operation)
      queue.addOperation(operation)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(
        log.events == [
          "will isCancelled", "isCancelled false→true", "will isFinished", "isFinished false→true",
        ])
      #expect(queue.operationCount == 0)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events.count == 4, "a later start of the operation has no effect")
    }
  }
}
