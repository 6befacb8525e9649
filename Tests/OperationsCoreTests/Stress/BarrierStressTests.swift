// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Barriers under stress, seeded", .oneAtATime)
struct BarrierStressTests {
  @Test(
    "BA-1, BA-3: threads add, cancel, suspend and change the width; the segments keep their turns",
    arguments: [false, true])
  func segmentsKeepTheirTurns(cancelsAll: Bool) async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let queue = OperationQueue()
      let referee = Referee()
      let adders = 3
      let perAdder = Effort.scaled(4_000)
      let running = Atomic<Int>(adders)
      onThreads(adders + 1) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        if thread < adders {
          add(perAdder, to: queue, referee, &random)
          running.wrappingSubtract(1, ordering: .releasing)
          return
        }
        while running.load(ordering: .acquiring) > 0 {
          queue.isSuspended = Bool.random(using: &random)
          queue.maxConcurrentOperationCount = Int.random(in: -1..<5, using: &random)
          if cancelsAll, Int.random(in: 0..<50, using: &random) == 0 {
            referee.barriersMayBeMissing()
            queue.cancelAllOperations()
          }
        }
        queue.isSuspended = false
        queue.maxConcurrentOperationCount = Int.random(in: 1..<5, using: &random)
      }
      // No thread cancels this barrier, so at least one barrier runs.
      if let last = referee.lastSegment {
        queue.addBarrierBlock { referee.runBarrier(behind: last) }
      }
      queue.waitUntilAllOperationsAreFinished()
      referee.check(operationCount: adders * perAdder)
      #expect(queue.operationCount == 0)
    }
  }

  /// Adds groups of operations, with a barrier after each group. Some of the operations depend on
  /// others of the same group.
  private func add(
    _ count: Int, to queue: OperationQueue, _ referee: Referee, _ random: inout SeededGenerator
  ) {
    var segment = referee.makeSegment(after: nil)
    for _ in 0..<count {
      let operation = referee.makeOperation(in: segment, Int.random(in: 0..<3, using: &random))
      operation.queuePriority =
        Operation.QueuePriority.allCases[Int.random(in: 0..<5, using: &random)]
      let others = segment.operations.value
      if let other = others.randomElement(using: &random), Bool.random(using: &random) {
        operation.addDependency(other)
      }
      segment.operations.change { $0.append(operation) }
      queue.addOperation(operation)
      if Int.random(in: 0..<10, using: &random) == 0 {
        others.randomElement(using: &random)?.cancel()
      }
      guard Int.random(in: 0..<6, using: &random) == 0 else { continue }
      let ended = segment
      queue.addBarrierBlock { referee.runBarrier(behind: ended) }
      segment = referee.makeSegment(after: ended)
    }
  }
}

/// A segment: the operations that one thread has added between two of its barriers, and the state
/// of the second barrier.
private final class Segment: Sendable {
  let operations = Monitored<[Operation]>([])
  let barrierHasBegun = Flag()
  let barrierIsOver = Flag()
  let previous: Segment?

  init(after previous: Segment?) { self.previous = previous }

  var isFinished: Bool { operations.value.allSatisfy(\.isFinished) }
}

/// An observer of every execution. It counts violations of the order that barriers require.
private final class Referee: Sendable {
  private let segments = Monitored<[Segment]>([])
  private let runningCount = Atomic<Int>(0)
  private let faultCount = Atomic<Int>(0)
  private let barrierCount = Atomic<Int>(0)
  private let mayMissBarriers = Flag()

  func makeSegment(after previous: Segment?) -> Segment {
    let segment = Segment(after: previous)
    segments.change { $0.append(segment) }
    return segment
  }

  var lastSegment: Segment? { segments.value.last }

  /// Makes the referee, which checks the order of executions, accept that a barrier's block does
  /// not run, because barriers will be cancelled.
  func barriersMayBeMissing() { mayMissBarriers.raise() }

  private func mayRun(in segment: Segment) -> Bool {
    if segment.barrierHasBegun.isRaised { return false }
    guard let previous = segment.previous else { return true }
    // `mayMissBarriers` is set before barriers are cancelled, so it is already set if a barrier's
    // block does not run.
    let isOver = previous.barrierIsOver.isRaised || mayMissBarriers.isRaised
    return isOver && previous.isFinished
  }

  func makeOperation(in segment: Segment, _ kind: Int) -> Operation {
    let work: @Sendable () -> Void = { [self] in
      runningCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
      if !mayRun(in: segment) { faultCount.wrappingAdd(1, ordering: .relaxed) }
      runningCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
    switch kind {
    case 0: return BlockOperation(block: work)
    case 1: return PlainSubclass(work: work)
    default:
      return WatchedAsynchronousOperation { [self] operation in
        // An operation that starts too early is a fault only if the operation is not cancelled.
        let isInTurn = mayRun(in: segment)
        if !isInTurn, !operation.isCancelled { faultCount.wrappingAdd(1, ordering: .relaxed) }
      }
    }
  }

  func runBarrier(behind segment: Segment) {
    segment.barrierHasBegun.raise()
    barrierCount.wrappingAdd(1, ordering: .relaxed)
    let before = runningCount.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    let isInTurn = segment.isFinished
    let after = runningCount.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    if before != 0 || after != 0 || !isInTurn { faultCount.wrappingAdd(1, ordering: .relaxed) }
    segment.barrierIsOver.raise()
  }

  func check(operationCount: Int) {
    #expect(faultCount.load(ordering: .relaxed) == 0, "an operation or a barrier ran too early")
    #expect(barrierCount.load(ordering: .relaxed) > 0)
    let operations = segments.value.flatMap(\.operations.value)
    #expect(operations.count == operationCount && operations.allSatisfy(\.isFinished))
    // The segments' operations are removed, because operations and segments retain each other
    // through captures of closures.
    for segment in segments.value { segment.operations.change { $0 = [] } }
  }
}

/// An operation that reports its start.
private final class WatchedAsynchronousOperation: LockedAsynchronousOperation, @unchecked Sendable {
  private let atStart: @Sendable (Operation) -> Void

  init(atStart: @escaping @Sendable (Operation) -> Void) {
    self.atStart = atStart
    super.init()
  }

  override func start() {
    atStart(self)
    super.start()
  }
}
