// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Groups", .timeLimit(.minutes(5)))
struct GroupOperationTests {
  private struct MemberError: Error, Equatable {
    let number: Int
  }

  @Test("A group finishes after its members, which run in the group's queue")
  func members() async throws {
    try await onOwnThread {
      let gate = Gate()
      let log = EventLog<String>()
      let quick = AsyncOperation { log.note("quick") }
      let group = GroupOperation([
        BlockOperation {
          gate.pass()
          log.note("\(OperationQueue.current?.name ?? "")")
        },
        quick,
      ])
      group.name = "chapter"
      let dependent = BlockOperation { log.note("dependent") }
      dependent.addDependency(group)
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.addOperations([group, dependent], waitUntilFinished: false)
      gate.waitForArrivals(1)
      quick.waitUntilFinished()
      #expect(group.isExecuting && group.operations.count == 1 && queue.operationCount == 2)
      gate.open()
      dependent.waitUntilFinished()
      #expect(log.events == ["quick", "chapter", "dependent"])
      #expect(group.operations.isEmpty && group.errors.isEmpty && group.error == nil)
    }
  }

  @Test("Members do not run before the group starts, and an empty group finishes at once")
  func start() async throws {
    let log = EventLog<Int>()
    let group = GroupOperation([BlockOperation { log.note(1) }])
    #expect(group.operations.count == 1)
    group.start()
    #expect(await group.waitUntilFinished())
    #expect(log.events == [1])
    let empty = GroupOperation()
    empty.start()
    try await empty.value
  }

  @Test("MX-1: the width of a group limits its executing members")
  func width() async throws {
    try await onOwnThread {
      let running = Monitored(0)
      let group = GroupOperation()
      group.maxConcurrentOperationCount = 2
      #expect(group.maxConcurrentOperationCount == 2)
      for _ in 0..<20 {
        group.addOperation(
          AsyncOperation {
            let count = running.change { count in
              count += 1
              return count
            }
            #expect(count <= 2)
            await Task.yield()
            running.change { $0 -= 1 }
          })
      }
      OperationQueue().addOperations([group], waitUntilFinished: true)
    }
  }

  @Test("Errors of members are kept in order, and the group fails when all have finished")
  func errors() async throws {
    let group = GroupOperation()
    group.maxConcurrentOperationCount = 1
    for number in 1...2 {
      group.addOperation(AsyncOperation { throw MemberError(number: number) })
    }
    let after = Monitored(false)
    group.addOperation(BlockOperation { after.change { $0 = true } })
    OperationQueue().addOperation(group)
    let error = await #expect(throws: GroupOperationError.self) { try await group.value }
    #expect(error?.errors as? [MemberError] == [MemberError(number: 1), MemberError(number: 2)])
    #expect(group.errors as? [MemberError] == [MemberError(number: 1), MemberError(number: 2)])
    #expect(group.error is GroupOperationError && after.value)
    #expect(error?.description.hasPrefix("2 operations of the group failed") == true)
  }

  @Test("A group in a group: the outer one fails with the inner one's error")
  func nested() async {
    let inner = GroupOperation([AsyncOperation { throw MemberError(number: 1) }])
    let outer = GroupOperation([inner])
    outer.start()
    let error = await #expect(throws: GroupOperationError.self) { try await outer.value }
    #expect((error?.errors.first as? GroupOperationError)?.errors.first is MemberError)
    #expect(error?.description.hasPrefix("An operation of the group failed: An op") == true)
  }

  @Test("A failure and the members that it cancels are one error", arguments: [1, 4])
  func dependentsOfAFailure(width: Int) async throws {
    let group = GroupOperation()
    group.maxConcurrentOperationCount = width
    let failing = AsyncOperation { throw MemberError(number: 1) }
    var last: Operation = failing
    for number in 0..<5 {
      let dependent = BlockOperation {}
      // Each operation requires the success of the failing operation, directly or through other
      // operations.
      dependent.addDependency(number < 3 ? failing : last, requires: .success)
      last = dependent
      group.addOperation(dependent)
    }
    group.addOperation(failing)
    OperationQueue().addOperation(group)
    let error = await #expect(throws: GroupOperationError.self) { try await group.value }
    #expect(error?.errors as? [MemberError] == [MemberError(number: 1)])
  }

  @Test("A failure outside the group that cancels several members is one error")
  func dependentsOfAForeignFailure() async throws {
    let failing = AsyncOperation { throw MemberError(number: 1) }
    let group = GroupOperation()
    for _ in 0..<5 {
      let dependent = BlockOperation {}
      dependent.addDependency(failing, requires: .success)
      group.addOperation(dependent)
    }
    failing.start()
    OperationQueue().addOperation(group)
    let error = await #expect(throws: GroupOperationError.self) { try await group.value }
    #expect(error?.errors.count == 1)
    #expect((error?.errors.first as? OperationDependencyError)?.underlyingError is MemberError)
  }

  @Test("A member that was only cancelled is not a failure")
  func cancelledMember() async throws {
    let member = AsyncOperation { try await AsyncGate().passUnlessCancelled() }
    let group = GroupOperation([member])
    member.cancel()
    group.start()
    try await group.value
    #expect(member.isFinished)
  }

  @Test("A member may add others until the group finishes")
  func addedByMembers() async throws {
    let count = Monitored(0)
    let group = GroupOperation()
    @Sendable func add(_ depth: Int) {
      let isAdded = group.addOperation(
        BlockOperation {
          count.change { $0 += 1 }
          if depth < 50 { add(depth + 1) }
        })
      #expect(isAdded)
    }
    add(1)
    group.start()
    try await group.value
    #expect(count.value == 50)
  }

  @Test("A finished or cancelled group accepts no members")
  func refused() async throws {
    let finished = GroupOperation()
    finished.start()
    try await finished.value
    let operation = BlockOperation {}
    #expect(!finished.addOperation(operation))
    let cancelled = GroupOperation()
    cancelled.cancel()
    #expect(!cancelled.addOperation(operation))
    let open = GroupOperation()
    #expect(open.addOperation(operation), "It was left as it was")
  }

  @Test(
    "Q-13, D-13: adding a queued operation, or the group itself, is a misuse")
  func mistakes() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let group = GroupOperation()
    #expect(
      OperationMisuse.catching { group.addOperation(operation) }.map(\.kind) == [.cannotEnqueue])
    #expect(OperationMisuse.catching { group.addOperation(group) }.map(\.kind) == [.cannotEnqueue])
    group.start()
    try await group.value
    queue.isSuspended = false
  }

  @Test("CA-8: cancelling it cancels its members, and it finishes when they have ended")
  func cancelled() async throws {
    try await onOwnThread {
      let gate = AsyncGate()
      let stubborn = AsyncOperation { await gate.pass() }
      let waiting = AsyncOperation { Issue.record("It ran") }
      waiting.addDependency(stubborn)
      let group = GroupOperation([stubborn, waiting])
      OperationQueue().addOperation(group)
      gate.waitForArrivals(1)
      group.cancel()
      #expect(stubborn.isCancelled && waiting.isCancelled && group.isExecuting)
      gate.open()
      group.waitUntilFinished()
      #expect(stubborn.isFinished && waiting.isFinished)
      #expect(throws: CancellationError.self) { try group.result?.get() }
      #expect(group.errors.isEmpty)
    }
  }

  @Test("CA-7: cancelled before it starts, its members finish without running", arguments: 0..<2)
  func cancelledBeforeTheStart(way: Int) async throws {
    let members = (0..<5).map { _ in BlockOperation { Issue.record("It ran") } }
    let group = GroupOperation(members)
    let queue = OperationQueue()
    queue.isSuspended = true
    if way == 0 { queue.addOperation(group) }
    group.cancel()
    for member in members { await member.waitUntilFinished() }
    #expect(!group.isFinished)
    if way == 0 { queue.isSuspended = false } else { group.start() }
    #expect(await group.waitUntilFinished())
    #expect(throws: CancellationError.self) { try group.result?.get() }
  }

  @Test("CA-7: cancelled before its start, it still waits for members that end slowly")
  func cancelledWithASlowMember() async throws {
    final class Slow: Operation, @unchecked Sendable {
      let gate: Gate
      init(_ gate: Gate) { self.gate = gate }
      override func start() {
        gate.pass()
        super.start()
      }
    }
    try await onOwnThread {
      let gate = Gate()
      let member = Slow(gate)
      let group = GroupOperation([member])
      group.cancel()
      gate.waitForArrivals(1)
      group.start()
      #expect(!group.isFinished && !group.isExecuting)
      gate.open()
      group.waitUntilFinished()
      #expect(member.isFinished)
    }
  }

  @Test("H-5, Q-8: a released group that never ran releases its members and its queue")
  func neverRun() async throws {
    let log = EventLog<String>()
    do {
      let probe = DeinitProbe("released", in: log)
      _ = GroupOperation([BlockOperation { probe.touch() }])
    }
    try await onOwnThread { _ = log.wait(for: "released") }
  }

  @Test("CA-7, Q-8: cancelled or released with a width of 0, its members still finish")
  func noWidth() async throws {
    let log = EventLog<String>()
    let group = GroupOperation([BlockOperation { Issue.record("It ran") }])
    group.maxConcurrentOperationCount = 0
    OperationQueue().addOperation(group)
    group.completionBlock = { log.note("finished") }
    group.cancel()
    do {
      let probe = DeinitProbe("released", in: log)
      GroupOperation([BlockOperation { probe.touch() }]).maxConcurrentOperationCount = 0
    }
    try await onOwnThread {
      log.wait(for: "finished")
      log.wait(for: "released")
    }
  }

  /// An operation that records the calls of `cancel()`.
  private final class Noting: Operation, @unchecked Sendable {
    let log: EventLog<Bool>
    let thread: UInt

    /// Creates an operation that logs, for each call of `cancel()`, whether the call was made on
    /// `thread`.
    init(in log: EventLog<Bool>, thread: UInt = 0) {
      self.log = log
      self.thread = thread
    }

    override func cancel() {
      super.cancel()
      log.note(pthread_self() == thread)
    }
  }

  @Test("CA-3: cancelling it again does not cancel its members again")
  func cancelledTwice() {
    let log = EventLog<Bool>()
    let group = GroupOperation([Noting(in: log)])
    group.cancel()
    group.cancel()
    group.start()
    #expect(log.events.count == 1)
  }

  @Test("H-2: released under a lock, it does not call cancel() of members on that thread")
  func letGoOfUnderALock() async throws {
    try await onOwnThread {
      let log = EventLog<Bool>()
      _ = GroupOperation([Noting(in: log, thread: pthread_self())])
      log.wait(forCount: 1)
      #expect(log.events == [false])
    }
  }

  @Test("H-5: a group and its members are released after it has run")
  func released() async throws {
    final class Probed: GroupOperation, @unchecked Sendable {
      var probe: DeinitProbe?
    }
    let log = EventLog<String>()
    do {
      let group = Probed()
      group.probe = DeinitProbe("group", in: log)
      let probe = DeinitProbe("member", in: log)
      group.addOperation(
        BlockOperation {
          probe.touch()
          group.addOperation(BlockOperation {})
        })
      OperationQueue().addOperation(group)
      try await group.value
    }
    try await onOwnThread { _ = log.wait(forCount: 2) }
  }

  @Test("A group can be retried, limited in time, and continued by then")
  func combined() async throws {
    let count = Monitored(0)
    let operation = RetryOperation(maximumAttempts: 3) { attempt in
      let group = GroupOperation([BlockOperation { count.change { $0 += 1 } }])
      group.addOperation(
        AsyncOperation { if attempt < 3 { throw MemberError(number: attempt) } })
      return group
    }
    let next = operation.then { count.value }
    try OperationQueue().tryAddOperations([operation, next])
    #expect(try await next.value == 3)
  }

  @Test("A subclass creates its members, and completes when they have finished")
  func subclass() async throws {
    final class Chapter: GroupOperation, @unchecked Sendable {
      let log = EventLog<String>()
      override init() {
        super.init()
        addOperation(
          BlockOperation { [unowned self] in
            log.note("first")
            addOperation(BlockOperation { [unowned self] in log.note("second") })
          })
      }
      override func willFinish(_ result: Result<Void, any Error>) async {
        log.note("concluded \(addOperation(BlockOperation {}))")
      }
    }
    let chapter = Chapter()
    OperationQueue().addOperation(chapter)
    try await chapter.value
    #expect(chapter.log.events == ["first", "second", "concluded false"])
  }
}
