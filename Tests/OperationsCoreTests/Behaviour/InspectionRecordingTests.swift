// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
        if let reported = news(of: operation), predicate(reported) { return }
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
      keepingRecords(of: [queue]) { collector in
        body(Recording(queue: queue, collector: collector))
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("Unmet dependencies are reported, and also that a dependency was removed")
  func unmetDependencies() async throws {
    try await recording { recording in
      let forgotten = Operation()
      let added = FlaggedOperation()
      recording.queue.addOperation(added)
      let operation = Operation()
      for dependency in [forgotten, added] { operation.addDependency(dependency) }
      recording.queue.addOperation(operation)
      #expect(recording.news(of: operation)?.unmetDependencies == [forgotten.id, added.id])
      operation.removeDependency(forgotten)
      #expect(recording.news(of: operation)?.unmetDependencies == [added.id])
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

  @Test("A wait in an operation's own code is reported as a change when it begins and when it ends")
  func awaitedInside() async throws {
    try await recording { recording in
      let other = OperationQueue()
      let gates = [Gate(), Gate(), Gate()]
      let awaited = BlockOperation { gates[0].pass() }
      let operation = BlockOperation {
        gates[1].pass()
        awaited.waitUntilFinished()
        gates[2].pass()
      }
      other.addOperation(awaited)
      recording.queue.addOperation(operation)
      recording.take(operation, until: "it executes") { $0.state == .executing }
      #expect(recording.news(of: operation) == nil)
      gates[1].open()
      recording.take(operation, until: "it waits") { _ in operation.awaitedInside.count == 1 }
      gates[0].open()
      recording.take(operation, until: "it no longer waits") { _ in
        operation.awaitedInside.isEmpty
      }
      gates[2].open()
    }
  }
}
