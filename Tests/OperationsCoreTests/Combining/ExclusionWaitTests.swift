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

@Suite("Operations that give way, and reserved exclusions")
struct ExclusionWaitTests {
  private let exclusion = MutualExclusion(name: "catalogue")

  /// Refuses an operation's request for a mutual exclusion until other operations must wait in its
  /// favor.
  private func makeDue(_ operation: Operation, in exclusions: Exclusions) {
    for _ in 0..<ExclusionMember.firstPatience {
      let holder = Operation()
      #expect(exclusions.acquire(holder, [exclusion]))
      #expect(!exclusions.acquire(operation, [exclusion]))
      exclusions.leave(holder)
    }
  }

  /// Requests the mutual exclusions of an operation on another thread, and returns when that thread
  /// waits in favor of an operation that was refused often.
  ///
  /// - Returns: The result of the request, which is set when the other thread has continued.
  private func askGivingWay(
    _ operation: Operation, in exclusions: Exclusions
  ) -> Monitored<Bool?> {
    let answer = Monitored<Bool?>(nil)
    let exclusion = exclusion
    startThread {
      let isAdmitted = exclusions.acquire(operation, [exclusion])
      answer.change { $0 = isAdmitted }
    }
    while exclusions.state.withLock({ $0.givingWayCount }) == 0, answer.value == nil {
      sched_yield()
    }
    #expect(answer.value == nil, "it gives way")
    return answer
  }

  @Test("A finished dependency does not make a refused operation request its exclusions again")
  func oneRequest() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let gate = Gate()
      let holder = BlockOperation { gate.pass() }
      holder.exclusions = [exclusion]
      OperationQueue().addOperation(holder)
      gate.waitForArrivals(1)
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let dependency = Operation()
      let operation = AskedOperation(in: queue)
      operation.exclusions = [exclusion]
      operation.addDependency(dependency)
      queue.addOperation(operation)
      dependency.start()
      #expect(
        poll(for: .seconds(Patience.seconds)) { Exclusions.shared.obstacle(of: operation) != nil })
      operation.isRefused.open()
      OperationQueue.duties.waitUntilAllOperationsAreFinished()
      // If the queue chose the refused operation a second time, it would do so before it starts the
      // operation that is added here.
      queue.addOperations([Operation()], waitUntilFinished: true)
      #expect(operation.requestCount.value == 1)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.requestCount.value == 2)
    }
  }

  @Test("An operation gives way to one that was refused often, which starts before it")
  func givesWay() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let exclusions = Exclusions(timeScale: 100_000)
      let (victim, other) = (Operation(), Operation())
      makeDue(victim, in: exclusions)
      let answer = askGivingWay(other, in: exclusions)
      #expect(exclusions.acquire(victim, [exclusion]))
      answer.wait(for: "the other one to be refused") { $0 != nil }
      #expect(answer.value == false)
      exclusions.leave(victim)
      #expect(exclusions.acquire(other, [exclusion]))
      exclusions.leave(other)
    }
  }

  @Test("If the refused operation does not start in time, others continue, and it starts later")
  func givesWayInVain() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let exclusions = Exclusions()
      let (victim, other) = (Operation(), Operation())
      makeDue(victim, in: exclusions)
      #expect(exclusions.acquire(other, [exclusion]))
      #expect(!exclusions.acquire(victim, [exclusion]))
      exclusions.leave(other)
      #expect(exclusions.acquire(victim, [exclusion]))
      exclusions.leave(victim)
      #expect(exclusions.state.withLock { $0.lines.isEmpty && $0.givingWayCount == 0 })
    }
  }

  @Test(
    "An operation that gets a dependency while it gives way is not started")
  func dependencyWhileGivingWay() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let exclusions = Exclusions(timeScale: 500)
      let (victim, other) = (Operation(), Operation())
      makeDue(victim, in: exclusions)
      let answer = askGivingWay(other, in: exclusions)
      other.addDependency(Operation())
      answer.wait(for: "an answer") { $0 != nil }
      #expect(answer.value == false)
      #expect(exclusions.acquire(victim, [exclusion]))
      exclusions.leave(victim)
      exclusions.leave(other)
      #expect(exclusions.state.withLock { $0.lines.isEmpty })
    }
  }

  @Test(
    "An operation whose isReady becomes false while it gives way is not started"
  )
  func unreadyWhileGivingWay() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let exclusions = Exclusions(timeScale: 500)
      let victim = Operation()
      let other = SwitchedOperation()
      makeDue(victim, in: exclusions)
      let answer = askGivingWay(other, in: exclusions)
      other.isAllowed.store(false, ordering: .sequentiallyConsistent)
      answer.wait(for: "an answer") { $0 != nil }
      #expect(answer.value == false)
      #expect(exclusions.acquire(victim, [exclusion]))
      exclusions.leave(victim)
      exclusions.leave(other)
      #expect(exclusions.state.withLock { $0.lines.isEmpty })
    }
  }

  @Test(
    "Setting exclusions waits for no lock of the process")
  func settingUnderProcessLock() async throws {
    let exclusion = exclusion
    try await onOwnThread(within: .seconds(60)) {
      let operation = Operation()
      let isSet = Monitored(false)
      let wasSetInTime = Exclusions.shared.state.withLock { _ in
        startThread {
          operation.exclusions = [exclusion]
          isSet.change { $0 = true }
        }
        return isSet.comesTrue(within: 5) { $0 }
      }
      #expect(wasSetInTime && operation.exclusions == [exclusion])
    }
  }

  /// A scene with two operations. The first one executes and holds a mutual exclusion until the
  /// gate opens. The second one waits for that exclusion. It was refused so often that another
  /// exclusion is reserved for it.
  private struct Reservation {
    let early = MutualExclusion(name: "early")
    let late = MutualExclusion(name: "late")
    let gate = Gate()
    let queue = OperationQueue()
    let due = BlockOperation {}
    let holder: BlockOperation

    init(_ work: @escaping @Sendable (_ early: MutualExclusion) -> Void) {
      holder = BlockOperation { [gate, early] in
        gate.pass()
        work(early)
      }
      holder.exclusions = [late]
      due.exclusions = [early, late]
      queue.maxConcurrentOperationCount = 3
      queue.addOperation(holder)
      gate.waitForArrivals(1)
      queue.addOperation(due)
      for round in 0...ExclusionMember.firstPatience {
        waitUntilRefused()
        // A new priority makes the operation request its mutual exclusions again.
        due.queuePriority = round.isMultiple(of: 2) ? .high : .normal
      }
      waitUntilRefused()
    }

    private func waitUntilRefused() {
      let deadline = ContinuousClock.now + .seconds(Patience.seconds)
      while due.state != .waiting, .now < deadline { sched_yield() }
      #expect(due.state == .waiting)
    }
  }

  @Test(
    "A reservation does not block an operation that its holder waits for inside for ever")
  func reservationAndInnerWait() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let inner = BlockOperation {}
      let other = OperationQueue()
      let scene = Reservation { early in
        inner.exclusions = [early]
        other.addOperations([inner], waitUntilFinished: true)
      }
      scene.gate.open()
      scene.queue.waitUntilAllOperationsAreFinished()
      #expect(inner.isFinished && scene.due.isFinished)
    }
  }

  /// Refuses an operation's request for two mutual exclusions until the first exclusion is reserved
  /// for the operation. Another operation holds the second exclusion.
  private func reserve(
    _ early: MutualExclusion, _ late: MutualExclusion, for due: Operation, in exclusions: Exclusions
  ) {
    let isReserved = {
      exclusions.state.withLock { $0.lines.lines[early]?.reserved.isEmpty == false }
    }
    for _ in 0..<1_000 where !isReserved() { #expect(!exclusions.acquire(due, [early, late])) }
    #expect(isReserved())
  }

  @Test("The timer is set to the earliest end of a reservation")
  func earliestEnd() {
    let exclusions = Exclusions(timeScale: 100_000)
    let (holder, first, second) = (Operation(), Operation(), Operation())
    let (early, other) = (MutualExclusion(name: "early"), MutualExclusion(name: "other"))
    let late = MutualExclusion(name: "late")
    #expect(exclusions.acquire(holder, [late]))
    // The operation `first` gets two reservations, because the second reservation of an operation
    // lasts twice as long as the first one.
    reserve(early, late, for: first, in: exclusions)
    exclusions.state.withLock { state in
      for limited in state.reservations.values {
        _ = state.lines.endReservation(limited.reservation)
      }
      state.reservations = [:]
      state.timerEnd = .max
    }
    reserve(early, late, for: first, in: exclusions)
    let firstEnd = exclusions.state.withLock { $0.timerEnd }
    reserve(other, late, for: second, in: exclusions)
    exclusions.state.withLock { state in
      #expect(state.reservations.count == 2 && state.timerEnd < .max)
      #expect(state.timerEnd == state.reservations.values.map(\.end).min())
    }
    #expect(exclusions.state.withLock { $0.timerEnd } < firstEnd)
    for operation in [holder, first, second] { exclusions.leave(operation) }
    exclusions.state.withLock { state in
      #expect(state.reservations.isEmpty)
      #expect(state.lines.isEmpty, "\(state.lines)")
    }
  }

  @Test("The timer ends each reservation, also one that ends after another one")
  func eachEnd() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let exclusions = Exclusions()
      let (holder, first, second) = (Operation(), Operation(), Operation())
      let (early, other) = (MutualExclusion(name: "early"), MutualExclusion(name: "other"))
      let late = MutualExclusion(name: "late")
      #expect(exclusions.acquire(holder, [late]))
      reserve(early, late, for: first, in: exclusions)
      reserve(other, late, for: second, in: exclusions)
      let areOver = {
        exclusions.state.withLock { state in
          [early, other].allSatisfy { state.lines.lines[$0]?.reserved.isEmpty != false }
        }
      }
      #expect(poll(for: .seconds(20), until: areOver))
      for operation in [holder, first, second] { exclusions.leave(operation) }
    }
  }

  @Test("The timer of reservations retains no state")
  func timerOfReservations() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      weak var gone: Exclusions?
      do {
        let exclusions = Exclusions(timeScale: 100_000)
        gone = exclusions
        let (holder, due) = (Operation(), Operation())
        let late = MutualExclusion(name: "late")
        #expect(exclusions.acquire(holder, [late]))
        reserve(exclusion, late, for: due, in: exclusions)
        for operation in [holder, due] { exclusions.leave(operation) }
      }
      #expect(poll(for: .seconds(5)) { gone == nil })
    }
  }

  @Test("A reserved exclusion is reported with the operation that it is reserved for")
  func reasonOfReservation() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let scene = Reservation { _ in }
      let refused = BlockOperation {}
      refused.exclusions = [scene.early]
      scene.queue.addOperations([refused, BlockOperation {}], waitUntilFinished: false)
      var reasons: [NotRunningReason] = []
      for _ in 0..<1_000_000 where reasons.isEmpty && !refused.isFinished {
        reasons = refused.reasonsNotRunning().filter {
          if case .notStartedYet = $0 { false } else { true }
        }
      }
      // The reservation of the mutual exclusion ends after 100 ms, so the operation may finish
      // before the test reads the reasons.
      if !refused.isFinished || !reasons.isEmpty {
        #expect(
          reasons == [.exclusionReserved(scene.early, for: [OperationReference(scene.due)])])
        #expect(
          reasons.map(\.description) == [
            "it needs the exclusion “early”, which is reserved for \(scene.due.id)"
          ])
      }
      #expect(scene.queue.deadlocks().isEmpty)
      refused.waitUntilFinished()
      scene.gate.open()
      scene.queue.waitUntilAllOperationsAreFinished()
    }
  }
}

/// An operation that is ready while its condition is met.
private final class SwitchedOperation: Operation, @unchecked Sendable {
  let isAllowed = Atomic(true)

  override var isReady: Bool {
    super.isReady && isAllowed.load(ordering: .sequentiallyConsistent)
  }
}

/// An operation that counts how often its queue reads its `isReady`. A thread outside the queue
/// that reads its `isReady` waits until the mutual exclusion has refused the operation.
private final class AskedOperation: Operation, @unchecked Sendable {
  let requestCount = Monitored(0)
  let isRefused = Gate()
  private let ownQueue: OperationQueue

  init(in queue: OperationQueue) {
    ownQueue = queue
    super.init()
  }

  override var isReady: Bool {
    guard super.isReady else { return false }
    if OperationQueue.current === ownQueue {
      requestCount.change { $0 += 1 }
    } else {
      isRefused.pass()
    }
    return true
  }
}
