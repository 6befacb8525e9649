// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@Suite("Names that subclasses use for members of their own")
struct OwnNamesTests {
  @Test("OP-9: a subclass declares members with names of the library")
  func propertiesOfTheSameNames() {
    let download = Download()
    #expect(download.id == "download" && download.state == 7 && download.states == ["a", "b"])
    #expect(download.lock == 1 && download.queue == "q" && download.status == 200)
    download.start()
    let operation: Operation = download
    #expect(operation.state == .finished && operation.id.rawValue > 0)
    #expect(operation.description.contains("\(operation.id)"))
  }

  @Test("OP-9: the library reads none of the members that a subclass declares for itself")
  func membersOfAnOperation() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let reads = EventLog<String>()
      let ported = PortedOperation(reads)
      let dependent = BlockOperation {}
      dependent.addDependency(ported, requires: .success)
      queue.isSuspended = true
      queue.addOperations([ported, dependent], waitUntilFinished: false)
      let operation: Operation = ported
      let shown = "\(operation) \(operation.debugDescription) \(queue.snapshot())"
      #expect(!shown.isEmpty && operation.reasonsNotRunning().count == 1)
      #expect(queue.deadlocks().isEmpty && operation.dependencyCycle() == nil)
      #expect(operation.fail(with: Failure()) && operation.error is Failure)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.state == .finished && dependent.isCancelled)
      #expect(reads.events.isEmpty)
      #expect(ported.state == .idle && PortedOperation.State.idle.rawValue == "own")
    }
  }

  @Test("OP-9: a state enum of a subclass announces flags through keyPathsForValuesAffectingValue")
  func ownStateDrivesFlags() async throws {
    try await onOwnThread {
      let operation = StateMachineOperation()
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(operation.state == .done && operation.isFinished)
    }
  }

  @Test("OP-9: a subclass of AsyncOperation declares the same names")
  func membersOfAnAsyncOperation() async throws {
    let operation = PortedAsyncOperation()
    OperationQueue().addOperation(operation)
    let plain: AsyncOperation<Int> = operation
    #expect(try await plain.value == 3 && plain.result?.isSuccess == true)
    #expect(operation.result == "own" && operation.value == "own" && operation.state == .idle)
    #expect(plain.error == nil && operation.error == "own")
  }

  @Test("Q-15: a subclass of a queue declares id, kind, cancelAllAndResume and shutdown")
  func membersOfAQueue() async throws {
    try await onOwnThread {
      let calls = EventLog<String>()
      let ported = PortedQueue(calls)
      let queue: OperationQueue = ported
      queue.addOperation {}
      queue.addAsyncOperation {}
      queue.addOperation(name: "sum") { 1 }
      queue.addOperations([BlockOperation {}])
      #expect(queue.snapshot().id == queue.id && "\(queue)".contains("PortedQueue"))
      queue.cancelAllAndResume()
      queue.waitUntilAllOperationsAreFinished()
      #expect(calls.events.isEmpty)
      ported.cancelAllAndResume()
      ported.shutdown()
      #expect(calls.events == ["cancelAllAndResume", "shutdown"] && ported.id == "own")
    }
  }
}

private struct Failure: Error {}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

private final class Download: Operation, @unchecked Sendable {
  let id = "download"
  var state = 7
  let states = ["a", "b"]
  let lock = 1
  let queue = "q"
  let status = 200
  let identifier = 0
  let links: [String] = []
  let rare = false
  let place = "here"
}

/// An operation that declares members with many names that the library uses or may use. It records
/// each use of these members that the library could cause.
private class PortedOperation: Operation, @unchecked Sendable {
  enum State: String { case idle = "own" }

  private let reads: EventLog<String>
  init(_ reads: EventLog<String>) { self.reads = reads }

  private func noted<Value>(_ name: String, _ value: Value) -> Value {
    reads.note(name)
    return value
  }

  // A read of `state` is not recorded, because the tests themselves read `state`.
  var state: State { .idle }
  var error: (any Error)? { noted("error", nil) }
  var result: Int? { noted("result", nil) }
  var id: String { noted("id", "own") }
  var kind: String { noted("kind", "own") }
  var progress: Double { noted("progress", 0) }
  var attempts: Int { noted("attempts", 0) }
  func fail() { reads.note("fail") }
  func fail(_ error: any Error) { reads.note("fail") }
  func log(_ text: String) { reads.note("log") }
  func report() { reads.note("report") }

  // The names of the following members are names of present members of the library.
  var states: [State] { noted("states", []) }
  var exclusions: [String] { noted("exclusions", []) }
  var releasesDependenciesWhenFinished: Bool { noted("releasesDependenciesWhenFinished", false) }
  func fail(with error: any Error) -> Bool { noted("fail(with:)", false) }
  func cancel(with reason: any Error) { reads.note("cancel(with:)") }
  func addDependency(_ operation: Operation, requires requirement: DependencyRequirement) {
    reads.note("addDependency(_:requires:)")
  }
  func waitUntilFinished() async -> Bool { noted("waitUntilFinished", false) }
  func tryStart() { reads.note("tryStart") }
  func reasonsNotRunning() -> [String] { noted("reasonsNotRunning", []) }
  func dependencyCycle() -> [Operation]? { noted("dependencyCycle", nil) }
}

private final class StateMachineOperation: Operation, @unchecked Sendable {
  enum State: Int { case ready, busy, done }

  var state = State.ready {
    willSet { willChangeValue(forKey: "state") }
    didSet { didChangeValue(forKey: "state") }
  }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    ["isReady", "isExecuting", "isFinished"].contains(key) ? ["state"] : []
  }

  override var isExecuting: Bool { state == .busy }
  override var isFinished: Bool { state == .done }
  override func start() {
    state = .busy
    state = .done
  }
}

private final class PortedAsyncOperation: AsyncOperation<Int>, @unchecked Sendable {
  enum State { case idle }
  let state = State.idle
  let error = "own"
  let result = "own"
  let value = "own"
  func then(_ body: (Int) -> Int) -> String { "own" }
  func then(on queue: OperationQueue, _ body: (Int) -> Int) -> String { "own" }
  let failsFast = "own"
  let releasesDependenciesWhenFinished = "own"
  let id = "own"
  let kind = "own"
  let progress = 0.5
  var attempts = 0
  func fail() {}
  func log(_ text: String) {}
  func report() {}
  override func run() async throws -> Int {
    attempts += 1
    return 3
  }
}

/// A queue that declares members with many names that the library uses or may use. It records each
/// use of these members that the library could cause.
private final class PortedQueue: OperationQueue, @unchecked Sendable {
  private let calls: EventLog<String>
  init(_ calls: EventLog<String>) { self.calls = calls }

  let id = "own"
  let kind = "own"
  func cancelAllAndResume() { calls.note("cancelAllAndResume") }
  func shutdown() { calls.note("shutdown") }

  // The names of the following members are names of present members of the library.
  func snapshot() -> String { "own" }
  func deadlocks() -> String { "own" }
  func stateChanges() -> String { "own" }
  func waitUntilAllOperationsAreFinished() async -> Bool { false }
  func addOperations(_ operations: [Operation]) { calls.note("addOperations") }
  func addOperation(name: String?, _ work: @escaping @Sendable () throws -> Int) -> Int { 0 }
  func addAsyncOperation(name: String?, _ work: @escaping @Sendable () -> Int) -> Int { 0 }
  let taskExecutor = "own"
  let startLimit = "own"
  func addOperation(_ operation: Operation, delay: Duration) { calls.note("addOperation(delay:)") }
  func tryAddOperation(_ operation: Operation) { calls.note("tryAddOperation") }
  func tryAddOperations(_ operations: [Operation]) { calls.note("tryAddOperations") }
}
