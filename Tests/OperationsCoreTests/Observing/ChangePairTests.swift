// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Announcements by subclasses: pairs, keys and options")
struct ChangePairTests {
  /// An operation whose `isFinished` is set by the test, and whose changes are not announced
  /// automatically.
  private final class Puppet: Operation, @unchecked Sendable {
    private let finished = Monitored(false)
    private let tunedTo = Monitored(0)

    override var isFinished: Bool {
      get { finished.value }
      set { finished.change { $0 = newValue } }
    }

    /// A property of the subclass that can be observed.
    var station: Int {
      get { tunedTo.value }
      set { tunedTo.change { $0 = newValue } }
    }

    override func value(forKey key: String) -> Any? {
      key == "station" ? station : super.value(forKey: key)
    }
  }

  private func watch<Value>(
    _ puppet: Puppet, _ keyPath: KeyPath<Operation, Value>, _ log: EventLog<String>,
    options: NSKeyValueObservingOptions = [.old, .new]
  ) -> NSKeyValueObservation {
    puppet.observe(keyPath, options: options) { _, change in
      let old = change.oldValue.map { "\($0)" } ?? "?"
      let new = change.newValue.map { "\($0)" } ?? "?"
      log.note(change.isPrior ? "prior \(old) \(new)" : "\(old)→\(new)")
    }
  }

  @Test("K-17: a pair announced by hand is delivered even when the value is the same")
  func nothingHasChanged() {
    let puppet = Puppet()
    let log = EventLog<String>()
    let observation = watch(puppet, \.isFinished, log)
    puppet.willChangeValue(forKey: "isFinished")
    puppet.didChangeValue(forKey: "isFinished")
    #expect(log.events == ["false→false"])
    observation.invalidate()
  }

  @Test("K-17: setting a property to the same value announces nothing")
  func settingTheSame() {
    let operation = PlainSubclass()
    operation.name = "one"
    operation.qualityOfService = .utility
    let log = ChangeLog(operation)
    operation.name = "one"
    operation.qualityOfService = .utility
    operation.queuePriority = .normal
    operation.completionBlock = nil
    #expect(log.events.isEmpty)
    operation.name = nil
    operation.qualityOfService = .default
    #expect(log.events.count == 4)
    operation.name = nil
    operation.qualityOfService = .default
    #expect(log.events.count == 4)
  }

  @Test("K-17, CA-2: a cancellation that comes after the finish is not reported")
  func overtakenCancellation() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let operation = BlockOperation { gate.pass() }
      let log = EventLog<String>()
      let observations = [
        operation.observe(\.isCancelled, options: [.old, .new]) { _, change in
          log.note("isCancelled \(change)")
        },
        operation.observe(\.isCancelled, options: [.prior]) { operation, change in
          guard change.isPrior else { return log.note("isCancelled") }
          gate.open()
          #expect(poll(for: .seconds(Patience.seconds)) { operation.isFinished })
          log.note("will be cancelled, and has finished")
        },
        operation.observe(\.isExecuting, options: [.new]) { operation, change in
          if change.newValue == true { log.note("isExecuting") }
        },
      ]
      queue.addOperation(operation)
      log.wait(forCount: 1)
      operation.cancel()
      operation.cancel()
      #expect(log.events == ["isExecuting", "will be cancelled, and has finished"])
      #expect(!operation.isCancelled && operation.isFinished)
      for observation in observations { observation.invalidate() }
    }
  }

  @Test("K-18: pairs match by key, side by side, nested, and nested with themselves")
  func pairsMatchByKey() {
    let puppet = Puppet()
    let log = EventLog<String>()
    let observations = [watch(puppet, \.isFinished, log), watch(puppet, \.name, log)].map { $0 }
    puppet.willChangeValue(forKey: "isFinished")
    puppet.willChangeValue(for: \.queuePriority)
    puppet.isFinished = true
    puppet.didChangeValue(forKey: "isFinished")
    puppet.didChangeValue(for: \.queuePriority)
    #expect(log.events == ["false→true"])
    puppet.willChangeValue(forKey: "isFinished")
    puppet.isFinished = false
    puppet.willChangeValue(forKey: "isFinished")
    puppet.isFinished = true
    puppet.didChangeValue(forKey: "isFinished")
    puppet.didChangeValue(forKey: "isFinished")
    #expect(log.events.dropFirst() == ["false→true", "true→true"], "the inner pair ends first")
    for observation in observations { observation.invalidate() }
  }

  @Test("K-18: the old value is the announcing thread's own")
  func pairsOfTwoThreads() async throws {
    try await onOwnThread {
      let puppet = Puppet()
      let log = EventLog<String>()
      let observation = watch(puppet, \.isFinished, log)
      puppet.willChangeValue(forKey: "isFinished")
      puppet.isFinished = true
      onThreads(1) { _ in
        puppet.willChangeValue(forKey: "isFinished")
        puppet.didChangeValue(forKey: "isFinished")
      }
      puppet.didChangeValue(forKey: "isFinished")
      #expect(log.events == ["true→true", "false→true"])
      observation.invalidate()
    }
  }

  @Test(
    "K-19: names with and without is mean the same, for announcing and for observing",
    arguments: ["isFinished", "finished"], ["isFinished", "finished"])
  func aliases(announced: String, observed: String) {
    let puppet = Puppet()
    let observer = Listener()
    puppet.addObserver(observer, forKeyPath: observed, options: .new)
    puppet.willChangeValue(forKey: announced)
    puppet.isFinished = true
    puppet.didChangeValue(forKey: announced)
    #expect(observer.log.events == ["\(observed) ?→true"])
    #expect(puppet.state == .finished)
    #expect(puppet.value(forKey: announced) as? Bool == true)
  }

  @Test(
    "K-19: every alias is the same property",
    arguments: ["finished", "executing", "ready", "cancelled", "concurrent", "asynchronous"])
  func everyAlias(alias: String) {
    let name = "is" + alias.prefix(1).uppercased() + alias.dropFirst()
    let operation = Operation()
    let observer = Listener()
    operation.addObserver(observer, forKeyPath: name)
    operation.willChangeValue(forKey: alias)
    operation.didChangeValue(forKey: alias)
    #expect(observer.log.events == ["\(name) ?→?"])
    #expect(operation.value(forKey: alias) as? Bool == operation.value(forKey: name) as? Bool)
  }

  @Test("K-20, D-18: a change without an earlier announcement has an effect, but no old value")
  func didWithoutWill() async throws {
    try await onOwnThread {
      let puppet = Puppet()
      let log = EventLog<String>()
      let observation = watch(puppet, \.isFinished, log)
      let dependent = Operation()
      dependent.addDependency(puppet)
      puppet.isFinished = true
      puppet.didChangeValue(forKey: "isFinished")
      #expect(log.events == ["?→true"])
      #expect(dependent.isReady)
      puppet.waitUntilFinished()
      observation.invalidate()
    }
  }

  @Test("K-21: initial is sent at once, without the old value, and with the new one on request")
  func initialNotification() {
    let puppet = Puppet()
    let log = EventLog<String>()
    let observations = [
      watch(puppet, \.isFinished, log, options: [.initial, .new, .old]),
      watch(puppet, \.isFinished, log, options: [.initial, .old]),
    ]
    #expect(log.events == ["?→false", "?→?"])
    for observation in observations { observation.invalidate() }
  }

  @Test("K-21: prior is sent before the change, with the old value on request")
  func priorNotification() {
    let puppet = Puppet()
    let log = EventLog<String>()
    let observations = [
      watch(puppet, \.isFinished, log, options: [.prior, .new]),
      watch(puppet, \.isFinished, log, options: [.prior, .old]),
    ]
    puppet.willChangeValue(for: \.isFinished)
    #expect(log.events == ["prior ? ?", "prior false ?"])
    puppet.isFinished = true
    puppet.didChangeValue(for: \.isFinished)
    #expect(log.events.dropFirst(2) == ["?→true", "false→?"])
    for observation in observations { observation.invalidate() }
  }

  @Test(
    "K-21, D-24: without options, the observer is notified, and no value is read")
  func noOptions() {
    final class Shy: Operation, @unchecked Sendable {
      let reads = Monitored(0)
      override var isReady: Bool {
        reads.change { $0 += 1 }
        return super.isReady
      }
    }
    let shy = Shy()
    let log = EventLog<String>()
    let observation = shy.observe(\.isReady) { _, change in
      log.note("\(change.kind) \(change.newValue == nil) \(change.oldValue == nil)")
    }
    shy.addDependency(Operation())
    let before = shy.reads.value
    shy.willChangeValue(for: \.isReady)
    #expect(shy.reads.value == before)
    #expect(log.events == ["setting true true"])
    observation.invalidate()
  }

  @Test("F-20: a subclass's own property is observed by its key path and by its name")
  func ownProperties() {
    let puppet = Puppet()
    let log = EventLog<String>()
    let observer = Listener()
    let observation = puppet.observe(\.station, options: [.old, .new]) { puppet, change in
      log.note("\(change.oldValue ?? -1)→\(change.newValue ?? -1), now \(puppet.station)")
    }
    puppet.addObserver(observer, forKeyPath: "station", options: [.old, .new])
    puppet.willChangeValue(for: \.station)
    puppet.willChangeValue(forKey: "station")
    puppet.station = 7
    puppet.didChangeValue(forKey: "station")
    puppet.didChangeValue(for: \.station)
    #expect(log.events == ["0→7, now 7"])
    #expect(observer.log.events == ["station 0→7"])
    observation.invalidate()
  }

  @Test("A widened property is known by the short key path, in both directions")
  func widenedProperty() {
    let puppet = Puppet()
    let log = EventLog<String>()
    let observation = puppet.observe(\.isFinished, options: .new) { puppet, change in
      log.note("\(puppet.station) \(change.newValue == true)")
    }
    puppet.willChangeValue(for: \.isFinished)
    puppet.isFinished = true
    puppet.didChangeValue(for: \.isFinished)
    #expect(log.events == ["0 true"])
    #expect(puppet.state == .finished)
    observation.invalidate()
  }
}
