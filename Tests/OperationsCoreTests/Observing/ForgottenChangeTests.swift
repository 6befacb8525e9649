// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Memory of announcements and observations that never end")
struct ForgottenChangeTests {
  @Test("H-6: registrations of released observers do not accumulate")
  func observersThatHaveGone() {
    let operation = Operation()
    let lasting = Listener()
    operation.addObserver(lasting, forKeyPath: "queuePriority")
    for _ in 0..<1_000 { operation.addObserver(Listener(), forKeyPath: "queuePriority") }
    var count = 0
    _ = operation.observations?.last { _ in
      count += 1
      return false
    }
    #expect(count < 100)
    operation.queuePriority = .high
    #expect(lasting.log.events.count == 1)
    operation.removeObserver(lasting, forKeyPath: "queuePriority")
  }

  @Test("H-7, K-20: a thread's unfinished announcement is not used for a later thread")
  func threadThatHasGone() async throws {
    try await onOwnThread {
      let operation = PlainSubclass()
      let log = EventLog<Bool>()
      let observation = operation.observe(\.queuePriority, options: .old) { _, change in
        log.note(change.oldValue == nil)
      }
      for _ in 0..<8 { onThreads(1) { _ in operation.willChangeValue(forKey: "queuePriority") } }
      for _ in 0..<8 { onThreads(1) { _ in operation.didChangeValue(forKey: "queuePriority") } }
      #expect(log.events == Array(repeating: true, count: 8))
      observation.invalidate()
    }
  }

  @Test("H-5: announced changes that never happen do not accumulate")
  func changesThatNeverCome() {
    let operation = PlainSubclass()
    let log = EventLog<String>()
    let observation = operation.observe(\.completionBlock, options: .old) { _, _ in }
    do {
      let probe = DeinitProbe("released", in: log)
      operation.completionBlock = { probe.touch() }
    }
    operation.willChangeValue(forKey: "completionBlock")
    operation.completionBlock = nil
    #expect(log.events.isEmpty, "it is the old value of a change that may come")
    for _ in 0..<1_000 { operation.willChangeValue(forKey: "completionBlock") }
    #expect(log.events == ["released"])
    observation.invalidate()
  }

  @Test("K-20: more than 256 simultaneous changes keep their old values")
  func manyThreadsAtOnce() async throws {
    try await onOwnThread {
      let operation = PlainSubclass()
      let withOldValue = Monitored(0)
      let observation = operation.observe(\.queuePriority, options: .old) { _, change in
        if change.oldValue != nil { withOldValue.change { $0 += 1 } }
      }
      let announced = Monitored(0)
      onThreads(300) { _ in
        operation.willChangeValue(forKey: "queuePriority")
        announced.change { $0 += 1 }
        announced.wait(for: "all threads to have announced the change") { $0 == 300 }
        operation.didChangeValue(forKey: "queuePriority")
      }
      #expect(withOldValue.value == 300)
      observation.invalidate()
    }
  }

  @Test("K-20: while 200 handlers of .prior are slow, all changes keep their old values")
  func slowPriorHandlers() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 200
      queue.isSuspended = true
      for _ in 0..<400 { queue.addOperation {} }
      let gate = Gate()
      let oldCounts = Monitored<[Int?]>([])
      let listObservation = queue.observe(\.operations, options: [.prior, .old]) { _, change in
        if change.isPrior { gate.pass() }
      }
      let observation = queue.observe(\.operationCount, options: [.prior, .old]) { _, change in
        if change.isPrior { gate.pass() } else { oldCounts.change { $0.append(change.oldValue) } }
      }
      queue.isSuspended = false
      // At this moment, all slots of the table of changes are in use by operations that have
      // announced a coming change and have not made it yet.
      gate.waitForArrivals(200)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      oldCounts.wait(for: "all changes") { $0.count == 400 }
      #expect(oldCounts.value.allSatisfy { $0 != nil })
      withExtendedLifetime((listObservation, observation)) {}
    }
  }

  @Test("H-5: if one thread nests more than 256 changes, the oldest lose their old values")
  func nestedChanges() {
    let operation = PlainSubclass()
    let log = EventLog<Bool>()
    let observation = operation.observe(\.queuePriority, options: .old) { _, change in
      log.note(change.oldValue != nil)
    }
    for _ in 0..<300 { operation.willChangeValue(forKey: "queuePriority") }
    for _ in 0..<300 { operation.didChangeValue(forKey: "queuePriority") }
    #expect(log.events == Array(repeating: true, count: 256) + Array(repeating: false, count: 44))
    observation.invalidate()
  }

  @Test("A class of another kind that returns an operation's host traps when it is observed")
  func forwardedHostInOwnProcess() async {
    await #expect(processExitsWith: .failure) {
      let observation = Impostor().observe(\.value) { _, _ in }
      observation.invalidate()
    }
    await #expect(processExitsWith: .failure) { Impostor().willChangeValue(for: \.value) }
    await #expect(processExitsWith: .success) { _ = Impostor() }
  }

  @Test("H-5: they do not accumulate if each is announced by another thread")
  func changesOfManyThreads() {
    var pending = PendingChanges()
    let registration = KeyValueRegistration(
      key: .named("name"), options: .old, read: { _ in nil }, handler: { _, _ in })
    let oldest = pending.append(.named("name"), [(registration, 1)], ofThread: 0).change.number
    var newest: UInt64 = 0
    var dropped = 0
    for thread in 1..<UInt64(PendingChanges.limit) {
      let (change, forgotten) = pending.append(.named("name"), [], ofThread: thread)
      newest = change.number
      dropped += forgotten.count
    }
    #expect(dropped == 0 && pending.changes(ofThread: 0).map(\.number) == [oldest])
    dropped = pending.append(.named("name"), [], ofThread: 1).dropped.count
    #expect(dropped == PendingChanges.limit / 2 + 1 && pending.count == PendingChanges.limit / 2)
    #expect(pending.remove(oldest, ofThread: 0) == nil)
    #expect(pending.remove(newest, ofThread: UInt64(PendingChanges.limit) - 1)?.number == newest)
    #expect(pending.changes(ofThread: 1).count == 1)
  }

  @Test("K-24, K-18: the arguments of a key path may use the operation when they are compared")
  func comparingKeyPaths() async throws {
    try await onOwnThread(within: .seconds(20)) {
      let shelf = Shelf()
      let log = EventLog<Int>()
      let observation = shelf.observe(\.[Place(number: 7, shelf: shelf)], options: .old) {
        if let old = $1.oldValue { log.note(old) }
      }
      shelf.willChangeValue(for: \.[Place(number: 7, shelf: shelf)])
      shelf.didChangeValue(for: \.[Place(number: 7, shelf: shelf)])
      #expect(log.events == [7])
      observation.invalidate()
    }
  }
}

/// An object that uses the observation data of an operation as if the data were its own.
private final class Impostor: KeyValueObservable {
  typealias ObservedRoot = Impostor

  let operation = Operation()
  let value = 1
  var keyValueObservationHost: KeyValueObservationHost { operation.keyValueObservationHost }

  func willChangeValue(forKey key: String) {}
  func didChangeValue(forKey key: String) {}
  func value(forKey key: String) -> Any? { nil }
}

/// An operation with a subscript. Tests use key paths with this subscript.
private final class Shelf: Operation, @unchecked Sendable {
  subscript(_ place: Place) -> Int { place.number }
}

/// A subscript argument that, when it is compared, observes the operation with the subscript.
private struct Place: Hashable {
  let number: Int
  let shelf: Shelf

  static func == (left: Place, right: Place) -> Bool {
    left.shelf.observe(\.isReady) { _, _ in }.invalidate()
    return left.number == right.number
  }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
