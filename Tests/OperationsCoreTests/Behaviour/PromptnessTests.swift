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

@Suite("Events after a finish while all processors are busy", .oneAtATime)
struct PromptnessTests {
  /// The duration of the operations that keep all processors busy: 20 ms, so that many run one
  /// after the other, or longer than the test.
  private static let loads: [Duration] = [.milliseconds(20), .seconds(10)]

  @Test("CB-1: a completion block begins within 50 ms of the finish", arguments: loads)
  func completionBlocks(load: Duration) async throws {
    try await onOwnThread(within: .seconds(120)) {
      let delays = Self.delays(besides: load) { queue, operation in
        let begun = Monitored<ContinuousClock.Instant?>(nil)
        operation.completionBlock = { begun.change { $0 = .now } }
        queue.addOperation(operation)
        return { begun.wait(for: "the completion block") { $0 != nil } ? begun.value : nil }
      }
      #expect(delays.count == 9 && delays.allSatisfy { $0 < .milliseconds(50) }, "\(delays)")
    }
  }

  @Test("CB-1: a completion block begins within 50 ms of the finish although five others compute")
  func longCompletionBlocks() async throws {
    try await onOwnThread(within: .seconds(120)) {
      let isOver = Flag()
      let delays = Self.delays(besides: .seconds(10), operationCount: 6) { queue, operation in
        let begun = Monitored<ContinuousClock.Instant?>(nil)
        operation.completionBlock = {
          begun.change { $0 = .now }
          let end = ContinuousClock.now + .seconds(2)
          while ContinuousClock.now < end, !isOver.isRaised {}
        }
        queue.addOperation(operation)
        return { begun.wait(for: "the completion block") { $0 != nil } ? begun.value : nil }
      }
      isOver.raise()
      #expect(delays.count == 6 && delays.allSatisfy { $0 < .milliseconds(50) }, "\(delays)")
    }
  }

  @Test("CB-1: the library's own work does not wait for long completion blocks")
  func slowCompletionBlocks() async throws {
    try await onOwnThread(within: .seconds(120)) {
      let delays = Self.delays(besides: .seconds(10)) { queue, operation in
        let cancelled = Monitored<ContinuousClock.Instant?>(nil)
        operation.completionBlock = { useProcessor(for: .milliseconds(200)) }
        let dependent = Operation()
        dependent.addDependency(operation, requires: .success)
        let observation = dependent.observe(\.isCancelled) { _, _ in
          cancelled.change { $0 = $0 ?? .now }
        }
        queue.addOperation(dependent)
        queue.addOperation(operation)
        return {
          defer { observation.invalidate() }
          return cancelled.wait(for: "the cancellation") { $0 != nil } ? cancelled.value : nil
        }
      }
      #expect(delays.count == 9 && delays.allSatisfy { $0 < .milliseconds(50) }, "\(delays)")
    }
  }

  @Test(
    "A dependent is cancelled within 50 ms of the failure of its dependency", arguments: loads)
  func cancellations(load: Duration) async throws {
    try await onOwnThread(within: .seconds(120)) {
      let delays = Self.delays(besides: load) { queue, operation in
        let cancelled = Monitored<ContinuousClock.Instant?>(nil)
        let dependent = Operation()
        dependent.addDependency(operation, requires: .success)
        let observation = dependent.observe(\.isCancelled) { _, _ in
          cancelled.change { $0 = $0 ?? .now }
        }
        queue.addOperation(dependent)
        queue.addOperation(operation)
        return {
          defer { observation.invalidate() }
          return cancelled.wait(for: "the cancellation") { $0 != nil } ? cancelled.value : nil
        }
      }
      #expect(delays.count == 9 && delays.allSatisfy { $0 < .milliseconds(50) }, "\(delays)")
    }
  }

  @Test(
    "DE-18: isReady of a subclass is read within 50 ms of the last dependency's finish",
    arguments: loads)
  func readinessQuestions(load: Duration) async throws {
    try await onOwnThread(within: .seconds(120)) {
      let delays = Self.delays(besides: load) { queue, operation in
        let dependent = AskedOperation()
        dependent.addDependency(operation)
        queue.addOperation(dependent)
        queue.addOperation(operation)
        return {
          let asked = dependent.asked
          return asked.wait(for: "the question") { $0 != nil } ? asked.value : nil
        }
      }
      #expect(delays.count == 9 && delays.allSatisfy { $0 < .milliseconds(50) }, "\(delays)")
    }
  }

  @Test("A slow cancel() delays no other cancellation by more than 50 ms")
  func slowCancellation() async throws {
    try await onOwnThread(within: .seconds(120)) {
      let dependents = Monitored<[Operation]>([SlowlyCancelled()])
      let delays = Self.delays(besides: .seconds(10)) { queue, operation in
        let cancelled = Monitored<ContinuousClock.Instant?>(nil)
        let other = Operation()
        // The dependents of the first operation include one whose `cancel()` takes a second. This
        // must not delay the other cancellations.
        for dependent in dependents.change({ [$0.popLast(), other].compactMap(\.self) }) {
          dependent.addDependency(operation, requires: .success)
          queue.addOperation(dependent)
        }
        let observation = other.observe(\.isCancelled) { _, _ in
          cancelled.change { $0 = $0 ?? .now }
        }
        queue.addOperation(operation)
        return {
          defer { observation.invalidate() }
          return cancelled.wait(for: "the cancellation") { $0 != nil } ? cancelled.value : nil
        }
      }
      #expect(delays.count == 9 && delays.allSatisfy { $0 < .milliseconds(50) }, "\(delays)")
    }
  }

  /// Returns, for each of several operations, the delay from its finish to a later event.
  private static func delays(
    besides load: Duration, operationCount: Int = 9,
    _ prepare: (OperationQueue, Operation) -> () -> ContinuousClock.Instant?
  ) -> [Duration] {
    let busy = BusyProcessors()
    let queue = OperationQueue()
    // The operations begin to execute before the processors are busy. The thread of the test
    // finishes them.
    let operations = (0..<operationCount).map { _ in FlaggedByHand() }
    let followers = operations.map { prepare(queue, $0) }
    for operation in operations { operation.begun.waitForArrivals(1) }
    busy.begin(200, for: load)
    let delays = zip(operations, followers).map { operation, follower in
      busy.waitUntilAllAreBusy()
      let before = ContinuousClock.now
      operation.fail()
      let delay = (follower() ?? before + .seconds(60)) - before
      #expect(busy.areStillBusy)
      return delay
    }
    busy.end()
    queue.waitUntilAllOperationsAreFinished()
    return delays
  }
}

/// A queue of default width whose operations use all processors.
private final class BusyProcessors: Sendable {
  private let queue = OperationQueue()
  private let runningCount = Atomic<Int>(0)
  private let isOver = Flag()

  func begin(_ count: Int, for load: Duration) {
    for _ in 0..<count {
      queue.addOperation { [self] in
        runningCount.wrappingAdd(1, ordering: .relaxed)
        let end = ContinuousClock.now + load
        while ContinuousClock.now < end, !isOver.isRaised {}
        runningCount.wrappingSubtract(1, ordering: .relaxed)
      }
    }
  }

  /// Waits until as many operations execute as there are processors.
  func waitUntilAllAreBusy() {
    while runningCount.load(ordering: .relaxed) < AvailableProcessors.count() { sched_yield() }
  }

  /// Whether more operations wait in the queue than execute.
  var areStillBusy: Bool { queue.operationCount > 2 * AvailableProcessors.count() }

  func end() {
    isOver.raise()
    queue.waitUntilAllOperationsAreFinished()
  }
}

/// An asynchronous operation that another thread finishes with an error.
private final class FlaggedByHand: Operation, @unchecked Sendable {
  private struct Failure: Error {}

  let begun = Gate()
  private let phase = Atomic<Int>(0)

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { phase.load(ordering: .acquiring) == 1 }
  override var isFinished: Bool { phase.load(ordering: .acquiring) == 2 }

  override func start() {
    willChangeValue(forKey: "isExecuting")
    phase.store(1, ordering: .releasing)
    didChangeValue(forKey: "isExecuting")
    begun.open()
    begun.pass()
  }

  func fail() {
    fail(with: Failure())
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    phase.store(2, ordering: .releasing)
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}

/// An operation that records the time at which its `isReady` is first read after its dependencies
/// have finished.
private final class AskedOperation: Operation, @unchecked Sendable {
  let asked = Monitored<ContinuousClock.Instant?>(nil)

  override var isReady: Bool {
    let isReady = super.isReady
    if isReady { asked.change { $0 = $0 ?? .now } }
    return isReady
  }
}

/// An operation that uses a processor for a second when it is cancelled.
private final class SlowlyCancelled: Operation, @unchecked Sendable {
  override func cancel() {
    useProcessor(for: .seconds(1))
    super.cancel()
  }
}
