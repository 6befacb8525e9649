// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport
import Testing

@testable import OperationsCore

@Suite("The data for inspection that a collector receives")
struct InspectionRecordingTests {
  private struct Recording {
    let queue: OperationQueue
    let collector: CollectorID

    /// Returns the recorded changes of one operation since the last call; `nil` if there are none.
    func news(of operation: Operation) -> RecordedOperation? {
      queue.takeChanges(for: collector, limit: 100).changed.last { $0.id == operation.id }
    }

    /// Receives the recorded changes of an operation until they satisfy a predicate.
    func take(
      _ operation: Operation, until what: String, at location: SourceLocation = #_sourceLocation,
      _ predicate: (RecordedOperation) -> Bool
    ) {
      let deadline = ContinuousClock.now + .seconds(Patience.seconds)
      while .now < deadline {
        if let told = news(of: operation), predicate(told) { return }
        sched_yield()
      }
      Issue.record("Not reported in time: \(what)", sourceLocation: location)
    }
  }

  /// Records the changes of a queue with one slot while `body` runs.
  private func recording(_ body: @escaping @Sendable (Recording) -> Void) async throws {
    try await onOwnThread {
      let queue = OperationQueue(unlistedNamed: "recorded")
      queue.maxConcurrentOperationCount = 1
      let collector = CollectorID()
      MonitorLevel.raise()
      queue.core.keepRecords(for: collector, replaces: true) {}
      defer {
        queue.core.dropRecords(of: collector)
        MonitorLevel.lower()
      }
      body(Recording(queue: queue, collector: collector))
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Only dependencies that are not in a queue are reported as such")
  func dependenciesInNoQueue() async throws {
    try await recording { recording in
      let forgotten = Operation()
      let added = FlaggedOperation()
      recording.queue.addOperation(added)
      let operation = Operation()
      operation.qualityOfService = .background
      for dependency in [forgotten, added] { operation.addDependency(dependency) }
      recording.queue.addOperation(operation)
      let told = recording.news(of: operation)
      #expect(told?.unmetDependencies == [forgotten.id, added.id])
      #expect(told?.dependenciesInNoQueue == [forgotten.id])
      #expect(told?.qualityOfService == .background)
      operation.removeDependency(forgotten)
      #expect(recording.news(of: operation)?.dependenciesInNoQueue == [])
      added.allow()
    }
  }

  @Test("DE-18: its own isReady as the only obstacle is reported, and the end of that too")
  func heldUpByItself() async throws {
    try await recording { recording in
      let dependency = Operation()
      let operation = FlaggedOperation()
      operation.addDependency(dependency)
      recording.queue.addOperation(operation)
      #expect(recording.news(of: operation)?.isHeldUpByItself == false)
      dependency.start()
      recording.take(operation, until: "it has said no") { $0.isHeldUpByItself }
      let another = Operation()
      operation.addDependency(another)
      #expect(recording.news(of: operation)?.isHeldUpByItself == false)
      operation.removeDependency(another)
      recording.take(operation, until: "it has said no again") { $0.isHeldUpByItself }
      operation.allow()
      operation.waitUntilFinished()
      #expect(recording.news(of: operation)?.isHeldUpByItself == false)
    }
  }

  @Test("A wait in an operation's own code is reported while it lasts")
  func awaitedInside() async throws {
    try await recording { recording in
      let other = OperationQueue()
      let gates = [Gate(), Gate(), Gate()]
      let awaited = BlockOperation { gates[0].pass() }
      let operation = BlockOperation {
        awaited.waitUntilFinished()
        gates[1].pass()
        other.waitUntilAllOperationsAreFinished()
      }
      other.addOperation(awaited)
      recording.queue.addOperation(operation)
      recording.take(operation, until: "an operation is awaited") {
        $0.awaitedOperations == [awaited.id]
      }
      gates[0].open()
      recording.take(operation, until: "nothing is awaited") { $0.awaitedOperations.isEmpty }
      other.addOperation { gates[2].pass() }
      gates[1].open()
      recording.take(operation, until: "a queue is awaited") { $0.awaitedQueues == [other.id] }
      gates[2].open()
      recording.take(operation, until: "it has finished") {
        $0.state == .finished && $0.awaitedQueues.isEmpty
      }
    }
  }

  @Test("Whether an operation is behind a barrier follows from two numbers")
  func barriers() async throws {
    try await recording { recording in
      let gate = Gate()
      let ahead = BlockOperation { gate.pass() }
      recording.queue.addOperation(ahead)
      recording.queue.addBarrierBlock {}
      let behind = Operation()
      recording.queue.addOperation(behind)
      let changes = recording.queue.takeChanges(for: recording.collector, limit: 100)
      #expect(changes.barriers == 1 && !changes.isBarrierRunning)
      let byID = Dictionary(uniqueKeysWithValues: changes.changed.map { ($0.id, $0) })
      #expect(byID[ahead.id]?.barriersBefore == changes.finishedBarriers)
      #expect(byID[behind.id]?.barriersBefore != changes.finishedBarriers)
      gate.open()
      recording.queue.waitUntilAllOperationsAreFinished()
      let later = recording.queue.takeChanges(for: recording.collector, limit: 100)
      #expect(later.barriers == 0 && later.finishedBarriers == byID[behind.id]?.barriersBefore)
    }
  }
}
