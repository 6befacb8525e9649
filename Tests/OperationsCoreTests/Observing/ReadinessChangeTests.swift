// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Changes of readiness during the announcement of another one")
struct ReadinessChangeTests {
  /// An operation that runs a closure once, after it has announced that its `dependencies` will
  /// change.
  private final class Interrupted: Operation, @unchecked Sendable {
    let interruption = Monitored<(@Sendable () -> Void)?>(nil)

    override func willChangeValue(forKey key: String) {
      super.willChangeValue(forKey: key)
      if key == "dependencies" { interruption.change { $0.take() }?() }
    }
  }

  @Test("K-7: if the last other dependency finishes meanwhile, the new one delays it, announced")
  func becameReadyMeanwhile() {
    let operation = Interrupted()
    let first = Operation()
    operation.addDependency(first)
    let log = EventLog<Bool>()
    let observation = operation.observe(\.isReady, options: .new) { _, change in
      if let isReady = change.newValue { log.note(isReady) }
    }
    operation.interruption.change { $0 = { first.start() } }
    operation.addDependency(Operation())
    #expect(log.events == [true, false] && !operation.isReady)
    observation.invalidate()
  }

  @Test("K-8: if it is cancelled meanwhile, the new dependency delays nothing")
  func cancelledMeanwhile() {
    let operation = Interrupted()
    operation.addDependency(Operation())
    let log = EventLog<Bool>()
    let observation = operation.observe(\.isReady, options: .new) { _, change in
      if let isReady = change.newValue { log.note(isReady) }
    }
    operation.interruption.change { $0 = { operation.cancel() } }
    operation.addDependency(Operation())
    #expect(log.events == [true] && operation.isReady)
    observation.invalidate()
  }
}
