// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Key paths of a subclass")
struct SubclassKeyPathTests {
  /// An operation that overrides some of the flags, and inherits the other flags of the base class.
  private class Announcing: Operation, @unchecked Sendable {
    private let isOver = Flag()

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { isOver.isRaised }

    override func start() {
      willChangeValue(for: \Announcing.isFinished)
      isOver.raise()
      didChangeValue(for: \Announcing.isFinished)
    }
  }

  private final class Further: Announcing, @unchecked Sendable {}

  private final class NamedQueue: OperationQueue, @unchecked Sendable {}

  @Test("F-20: a subclass may announce its finish by its own key path")
  func announcing() async throws {
    try await onOwnThread {
      for operation in [Announcing(), Further()] {
        let log = EventLog<String>()
        let observation = operation.observe(\.isFinished, options: [.old, .new]) { _, change in
          log.note("\(change.oldValue == true)→\(change.newValue == true)")
        }
        let dependent = Operation()
        dependent.addDependency(operation)
        let queue = OperationQueue()
        queue.addOperation(operation)
        #expect(poll(for: .seconds(Patience.seconds)) { operation.state == .finished })
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == ["false→true"] && dependent.isReady)
        observation.invalidate()
      }
    }
  }

  @Test("F-20: flags of the base class, overridden or not, are observed by such a key path")
  func observingFlags() {
    let operation = Further()
    let log = EventLog<String>()
    let observations = [
      operation.observe(\Further.isCancelled) { _, _ in log.note("isCancelled") },
      operation.observe(\Announcing.isCancelled) { _, _ in log.note("isCancelled too") },
      operation.observe(\Further.isFinished) { _, _ in log.note("isFinished") },
      operation.observe(\Announcing.isFinished) { _, _ in log.note("isFinished too") },
    ]
    operation.cancel()
    operation.start()
    #expect(log.events == ["isCancelled", "isCancelled too", "isFinished", "isFinished too"])
    for observation in observations { observation.invalidate() }
  }

  @Test("F-20: the other properties of operations and queues are observed by it")
  func observingProperties() {
    let operation = Announcing()
    let queue = NamedQueue()
    let log = EventLog<String>()
    let observations = [
      operation.observe(\Announcing.queuePriority, options: .new) { _, change in
        log.note(change.newValue.map { "\($0)" } ?? "?")
      },
      operation.observe(\Announcing.name, options: .new) { _, change in
        log.note((change.newValue ?? nil) ?? "?")
      },
      queue.observe(\NamedQueue.isSuspended, options: .new) { _, change in
        log.note("\(change.newValue == true)")
      },
    ]
    operation.queuePriority = .high
    operation.name = "upload"
    queue.isSuspended = true
    #expect(log.events == ["high", "upload", "true"])
    for observation in observations { observation.invalidate() }
  }

  @Test("F-20: sequences of changes use it", .timeLimit(.minutes(1)))
  func sequenceOfChanges() async {
    let operation = Announcing()
    var changes = operation.changes(of: \Announcing.isCancelled).makeAsyncIterator()
    operation.cancel()
    #expect(await changes.next()?.newValue == true)
  }
}
