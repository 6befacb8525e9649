// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import TestSupport
import Testing

@Suite("An operation of Foundation as an operation of the library")
struct ForwardedOperationTests {
  /// An operation of Foundation that is alone in its queue, and is cancelled before its
  /// dependencies have finished.
  private struct Cancelled {
    weak var original: Foundation.Operation?
    weak var forwarded: OperationsFoundation.Operation?

    init(waitingFor dependencies: [Foundation.Operation]) {
      let queue = OperationQueue()
      let original = Foundation.BlockOperation { Issue.record("cancelled, and ran") }
      for dependency in dependencies { original.addDependency(dependency) }
      queue.foundationQueue.addOperation(original)
      self.original = original
      forwarded = queue.operations.first
      #expect(forwarded != nil)
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
      #expect(original.isFinished)
    }

    var isFreed: Bool { original == nil && forwarded == nil }
  }

  @Test("A cancelled operation and its unfinished dependency are released")
  func cancelledIsFreed() async throws {
    try await onOwnThread {
      var dependency: Foundation.Operation? = Foundation.Operation()
      weak let weakDependency = dependency
      let cancelled = Cancelled(waitingFor: [dependency].compactMap(\.self))
      #expect(poll(for: .seconds(Patience.seconds)) { cancelled.isFreed })
      dependency = nil
      // If another operation still waited for the dependency, it would keep the dependency alive.
      #expect(poll(for: .seconds(Patience.seconds)) { weakDependency == nil })
    }
  }

  @Test("Dependencies may finish before, during and after the release of a cancelled operation")
  func dependenciesFinishLate() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(200) {
        let dependencies = (0..<3).map { _ in Foundation.Operation() }
        dependencies[0].start()
        startThread { dependencies[1].start() }
        let cancelled = Cancelled(waitingFor: dependencies)
        #expect(poll(for: .seconds(Patience.seconds)) { cancelled.isFreed })
        dependencies[2].start()
        dependencies[1].waitUntilFinished()
      }
    }
  }

  @Test("The operation after a finish has its own Foundation queue, even if many wait")
  func followsAlone() async throws {
    try await onOwnThread {
      let count = 50
      let queue = OperationQueue()
      let companions = EventLog<Int>()
      let dependencies = (0..<count).map { _ in Foundation.Operation() }
      let waiting = dependencies.map { dependency in
        let operation = Foundation.BlockOperation {}
        operation.addDependency(dependency)
        return operation
      }
      queue.foundationQueue.addOperations(waiting, waitUntilFinished: false)
      let observations = queue.operations.map { operation in
        operation.observe(\.isReady) { _, _ in
          companions.note(Foundation.OperationQueue.current?.operationCount ?? 0)
        }
      }
      #expect(observations.count == count)
      for dependency in dependencies { dependency.start() }
      queue.waitUntilAllOperationsAreFinished()
      // Each waiting operation is alone in its queue of Foundation. In a common queue, each finish
      // would take longer, because a queue of Foundation examines all its operations then.
      #expect(companions.events == Array(repeating: 1, count: count))
      withExtendedLifetime(observations) {}
    }
  }
}
