// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Keys that depend on other keys")
struct DependentKeyTests {
  /// An operation in a common style: the flags are derived from `state`, and only changes of
  /// `state` are announced.
  private class StatefulOperation: Operation, @unchecked Sendable {
    enum Phase: Int { case ready, executing, finished }

    private let phase = Monitored(Phase.ready)

    func move(to next: Phase) {
      willChangeValue(forKey: "phase")
      phase.change { $0 = next }
      didChangeValue(forKey: "phase")
    }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      ["isReady", "isExecuting", "isFinished"].contains(key)
        ? ["phase"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }

    override var isReady: Bool { super.isReady && phase.value == .ready }
    override var isExecuting: Bool { phase.value == .executing }
    override var isFinished: Bool { phase.value == .finished }
    override var isAsynchronous: Bool { true }

    override func start() {
      if isCancelled { return move(to: .finished) }
      move(to: .executing)
      main()
    }
  }

  /// An operation that declares on which keys `finished` depends, without the prefix `is`, and
  /// through another key.
  private final class Indirect: StatefulOperation, @unchecked Sendable {
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      switch key {
      case "finished": ["isDone"]
      case "isDone": ["signal"]
      default: []
      }
    }

    func signal() {
      willChangeValue(forKey: "signal")
      didChangeValue(forKey: "signal")
    }
  }

  @Test("K-23: announcing the state announces the flags that depend on it")
  func flagsDependOnTheState() {
    let operation = StatefulOperation()
    let log = EventLog<String>()
    let observations = [
      operation.observe(\.isExecuting, options: [.old, .new]) { _, change in
        log.note("isExecuting \(change.oldValue == true)→\(change.newValue == true)")
      },
      operation.observe(\.isFinished, options: [.old, .new]) { _, change in
        log.note("isFinished \(change.oldValue == true)→\(change.newValue == true)")
      },
    ]
    operation.move(to: .executing)
    #expect(log.events == ["isExecuting false→true", "isFinished false→false"])
    #expect(operation.state == .executing)
    operation.move(to: .finished)
    #expect(log.events.dropFirst(2) == ["isExecuting true→false", "isFinished false→true"])
    #expect(operation.state == .finished)
    for observation in observations { observation.invalidate() }
  }

  @Test("K-23, ST-6, D-9: such operations run in a queue, and release their dependents")
  func theyRunInAQueue() async throws {
    try await onOwnThread {
      final class Finishing: StatefulOperation, @unchecked Sendable {
        override func main() {
          startThread { self.move(to: .finished) }
        }
      }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      var last: Operation?
      for _ in 0..<50 {
        let next = Finishing()
        if let last { next.addDependency(last) }
        queue.addOperation(next)
        last = next
      }
      let cancelled = Finishing()
      cancelled.cancel()
      queue.addOperation(cancelled)
      queue.waitUntilAllOperationsAreFinished()
      #expect(cancelled.isFinished && last?.isFinished == true)
    }
  }

  @Test("K-19, K-23: indirect keys and names without is are followed")
  func indirectKeys() {
    let operation = Indirect()
    let dependent = Operation()
    dependent.addDependency(operation)
    let log = EventLog<Bool>()
    let observation = operation.observe(\.isFinished, options: .new) { _, change in
      if let new = change.newValue { log.note(new) }
    }
    operation.signal()
    operation.move(to: .finished)
    #expect(log.events == [false] && !dependent.isReady, "this class does not derive it from phase")
    operation.signal()
    #expect(log.events == [false, true])
    #expect(dependent.isReady)
    observation.invalidate()
  }
}
