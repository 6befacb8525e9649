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

@Suite("Observers: order, registration, removal, and permitted calls")
struct ObserverTests {
  @Test("K-22: observers are notified in the order of registration, on the announcing thread")
  func orderAndThread() async throws {
    try await onOwnThread {
      let operation = PlainSubclass()
      let log = EventLog<String>()
      let observations = (0..<3).map { index in
        operation.observe(\.isCancelled) { _, _ in log.note("\(index) on \(Self.thread)") }
      }
      operation.cancel()
      #expect(log.events == (0..<3).map { "\($0) on \(Self.thread)" })
      for observation in observations { observation.invalidate() }
    }
  }

  private static var thread: UInt { UInt(pthread_self()) }

  @Test("K-22: an observer that is added during a delivery is notified from the next change on")
  func registeringDuringDelivery() {
    let operation = Operation()
    let log = EventLog<String>()
    let late = Monitored<NSKeyValueObservation?>(nil)
    let observation = operation.observe(\.queuePriority) { operation, _ in
      log.note("first")
      if late.value != nil { return }
      let second = operation.observe(\.queuePriority) { _, _ in log.note("second") }
      late.change { $0 = second }
    }
    operation.queuePriority = .high
    #expect(log.events == ["first"])
    operation.queuePriority = .low
    #expect(log.events == ["first", "first", "second"])
    observation.invalidate()
    late.change { $0 = nil }
  }

  @Test("K-22: after invalidate, or the release of the token, no notification is sent")
  func endingAnObservation() {
    let operation = Operation()
    let log = EventLog<String>()
    let first = operation.observe(\.queuePriority) { _, _ in log.note("first") }
    var second: NSKeyValueObservation? = operation.observe(\.queuePriority) { _, _ in
      log.note("second")
    }
    operation.queuePriority = .high
    #expect(log.events == ["first", "second"])
    first.invalidate()
    first.invalidate()
    operation.queuePriority = .low
    #expect(log.events == ["first", "second", "second"])
    withExtendedLifetime(second) {}
    second = nil
    operation.queuePriority = .normal
    #expect(log.events.count == 3)
  }

  @Test("K-22, K-24: an observer that ends itself or the next one has an effect at once")
  func endingDuringDelivery() {
    let operation = Operation()
    let log = EventLog<String>()
    let tokens = Monitored<[NSKeyValueObservation]>([])
    let first = operation.observe(\.queuePriority) { _, _ in
      log.note("first")
      for token in tokens.change({ all in all }) { token.invalidate() }
    }
    let second = operation.observe(\.queuePriority) { _, _ in log.note("second") }
    tokens.change { $0 = [first, second] }
    operation.queuePriority = .high
    operation.queuePriority = .low
    #expect(log.events == ["first"])
  }

  @Test("K-22: an ended observation releases its handler, even one that retains it")
  func endedObservationReleasesHandler() {
    let operation = Operation()
    let token = Monitored<NSKeyValueObservation?>(nil)
    weak var captured: EventLog<String>?
    do {
      let log = EventLog<String>()
      captured = log
      token.change {
        $0 = operation.observe(\.queuePriority) { _, _ in
          log.note("notified")
          token.change { $0 }?.invalidate()
        }
      }
    }
    #expect(captured != nil)
    operation.queuePriority = .high
    #expect(captured == nil)
  }

  @Test("K-24: an observer may read, cancel, depend, add to the queue and change the priority")
  func whatAnObserverMayDo() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let operation = PlainSubclass()
      let other = BlockOperation { log.note("added by the observer") }
      let observation = operation.observe(\.isExecuting, options: [.new]) { operation, change in
        guard change.newValue == true else { return }
        #expect(operation.isReady && operation.isExecuting && !operation.isFinished)
        #expect(queue.operations.contains(operation) && queue.operationCount == 1)
        operation.addDependency(other)
        operation.removeDependency(other)
        operation.queuePriority = .veryHigh
        operation.name = "observed"
        operation.completionBlock = { log.note("completion set by the observer") }
        queue.addOperation(other)
        operation.cancel()
      }
      queue.addOperation(operation)
      operation.waitUntilFinished()
      other.waitUntilFinished()
      log.wait(forCount: 2)
      #expect(operation.isCancelled && operation.queuePriority == .veryHigh)
      observation.invalidate()
    }
  }

  @Test("K-24: the last reference may be released inside an observer")
  func releasingInsideAnObserver() {
    let log = EventLog<String>()
    let box = Monitored<Operation?>(PlainSubclass(atDeinit: { log.note("deinit") }))
    let observation = box.value?.observe(\.isFinished) { _, _ in
      box.change { $0 = nil }
      log.note("released")
    }
    box.value?.start()
    #expect(log.events == ["released", "deinit"])
    observation?.invalidate()
  }

  @Test(
    "WA-4: an observer of the finish that waits for the operation returns at once",
    arguments: [false, true])
  func waitingInsideAnObserver(isQueued: Bool) async throws {
    try await onOwnThread {
      for operation in [BlockOperation {}, PlainSubclass(), LockedAsynchronousOperation()] {
        let dependent = PlainSubclass()
        dependent.addDependency(operation)
        let log = EventLog<String>()
        let observations = [
          operation.observe(\.isFinished) { operation, _ in
            operation.waitUntilFinished()
            log.note("finish")
          },
          dependent.observe(\.isReady) { _, _ in
            operation.waitUntilFinished()
            log.note("dependent")
          },
        ]
        if isQueued { OperationQueue().addOperation(operation) } else { operation.start() }
        log.wait(forCount: 2)
        operation.waitUntilFinished()
        #expect(log.events == ["finish", "dependent"])
        for observation in observations { observation.invalidate() }
      }
    }
  }

  @Test("H-5, H-6: a token outlives its operation, and neither keeps the other alive")
  func lifetimes() {
    let log = EventLog<String>()
    var operation: Operation? = PlainSubclass(atDeinit: { log.note("operation") })
    let probe = DeinitProbe("handler", in: log)
    var token = operation?.observe(\.isFinished) { [probe] _, _ in probe.touch() }
    operation = nil
    #expect(log.events == ["operation"])
    token?.invalidate()
    token = nil
    #expect(operation == nil && log.events == ["operation"], "the test holds the probe")
  }

  @Test(
    "H-5, H-6: a handler that retains its own token is released with the operation",
    arguments: [false, true])
  func handlerHoldsItsToken(isChangeDue: Bool) {
    let log = EventLog<String>()
    do {
      let operation = Operation()
      let token = Monitored<NSKeyValueObservation?>(nil)
      let probe = DeinitProbe("handler", in: log)
      token.change {
        $0 = operation.observe(\.isFinished, options: .old) { _, _ in
          probe.touch()
          token.change { $0 = nil }
        }
      }
      if isChangeDue { operation.willChangeValue(forKey: "isFinished") }
      #expect(log.events.isEmpty)
    }
    #expect(log.events == ["handler"])
  }

  @Test("H-5: a token in a property of the observed operation leaks nothing")
  func tokenInsideTheOperation() {
    final class SelfWatching: Operation, @unchecked Sendable {
      let token = Monitored<NSKeyValueObservation?>(nil)
      let log: EventLog<String>
      init(_ log: EventLog<String>) {
        self.log = log
        super.init()
        let observation = observe(\.isFinished) { operation, _ in operation.log.note("finished") }
        token.change { $0 = observation }
      }
      deinit { log.note("deinit") }
    }
    let log = EventLog<String>()
    SelfWatching(log).start()
    #expect(log.events == ["finished", "deinit"])
  }

  @Test("Observer objects are referenced weakly, and contexts distinguish registrations")
  func observerObjects() {
    let operation = Operation()
    let listener = Listener()
    let context = UnsafeMutableRawPointer(bitPattern: 16)
    operation.addObserver(listener, forKeyPath: "queuePriority", options: .new, context: nil)
    operation.addObserver(
      listener, forKeyPath: "queuePriority", options: [.old, .prior], context: context)
    operation.queuePriority = .high
    #expect(
      listener.log.events == [
        "prior queuePriority normal→?", "queuePriority ?→high", "queuePriority normal→?",
      ])
    operation.removeObserver(listener, forKeyPath: "queuePriority", context: nil)
    operation.queuePriority = .low
    #expect(
      listener.log.events.dropFirst(3) == ["prior queuePriority high→?", "queuePriority high→?"])
    operation.removeObserver(listener, forKeyPath: "queuePriority")
    operation.queuePriority = .normal
    #expect(listener.log.events.count == 5)

    var gone: Listener? = Listener()
    weak let weakly = gone
    if let gone { operation.addObserver(gone, forKeyPath: "name") }
    gone = nil
    #expect(weakly == nil)
    operation.name = "no observer"
  }

  @Test("value(forKey:) returns every property that operations announce")
  func valuesByName() {
    let operation = BlockOperation {}
    operation.addDependency(Operation())
    operation.name = "one"
    operation.queuePriority = .high
    operation.qualityOfService = .utility
    #expect(operation.value(forKey: "isReady") as? Bool == false)
    #expect(operation.value(forKey: "isExecuting") as? Bool == false)
    #expect(operation.value(forKey: "isFinished") as? Bool == false)
    #expect(operation.value(forKey: "isCancelled") as? Bool == false)
    #expect((operation.value(forKey: "dependencies") as? [Operation])?.count == 1)
    #expect(operation.value(forKey: "queuePriority") as? Operation.QueuePriority == .high)
    #expect(operation.value(forKey: "qualityOfService") as? QualityOfService == .utility)
    #expect(operation.value(forKey: "name") as? String == "one")
    #expect(operation.value(forKey: "completionBlock") == nil)
    #expect(!Operation.automaticallyNotifiesObservers(forKey: "isFinished"))
  }
}
