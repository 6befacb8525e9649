// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// Each test runs in a separate process, because the diagnostic handler is set for the whole
/// process.
@Suite("Diagnostics of allowed but unusual calls")
struct DiagnosticTests {
  @Test("CB-4: a completion block that is set too late is reported")
  func lateCompletionBlockInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = Self.log()
      let operation = Operation()
      operation.start()
      operation.completionBlock = nil
      #expect(log.events.isEmpty)
      operation.completionBlock = {}
      #expect(log.events == [.completionBlockAfterFinish])
    }
  }

  @Test("CB-4, K-17: a completion block set during the finish is reported, and never runs")
  func overtakenCompletionBlockInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = Self.log()
      let operation = ReactingOperation(to: "completionBlock") { $0.start() }
      let reported = EventLog<String>()
      let observation = operation.observe(\.completionBlock) { _, _ in reported.note("changed") }
      operation.completionBlock = { reported.note("runs") }
      #expect(operation.isFinished && operation.completionBlock == nil)
      #expect(log.events == [.completionBlockAfterFinish])
      #expect(reported.events.isEmpty)
      observation.invalidate()
    }
  }

  @Test("K-20: a change without an earlier announcement is reported if it is observed")
  func didWithoutWillInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = Self.log()
      let operation = PlainSubclass()
      operation.didChangeValue(forKey: "isExecuting")
      #expect(log.events.isEmpty, "there are no observers")
      let observation = operation.observe(\.isExecuting) { _, _ in }
      operation.didChangeValue(forKey: "isExecuting")
      #expect(log.events == [.didChangeWithoutWillChange])
      operation.willChangeValue(forKey: "isExecuting")
      operation.didChangeValue(forKey: "isExecuting")
      operation.start()
      #expect(log.events.count == 1)
      observation.invalidate()
    }
  }

  private static let keys = [
    "name", "queuePriority", "qualityOfService", "completionBlock", "dependencies", "isReady",
    "isCancelled", "isExecuting", "isFinished",
  ]

  @Test(
    "K-20: an observation that begins between the base class's announcements is not reported",
    arguments: keys)
  func registeredInBetweenInOwnProcess(key: String) async {
    await #expect(processExitsWith: .success) { [key] in
      let log = Self.log()
      let listener = DeafObserver()
      for isQueued in [false, true] {
        let operation = ReactingOperation(to: key) { $0.addObserver(listener, forKeyPath: key) }
        operation.name = "new"
        operation.queuePriority = .high
        operation.qualityOfService = .utility
        operation.completionBlock = {}
        let dependency = Operation()
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        if key == "isCancelled" { operation.cancel() }
        if isQueued { OperationQueue().addOperation(operation) } else { operation.start() }
        operation.finishesSoon()
        #expect(operation.hasReacted)
      }
      #expect(log.events.isEmpty)
    }
  }

  @Test("K-20, CB-4: by default the first of each kind is printed, in one line")
  func printedInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let operation = PlainSubclass()
      let observation = operation.observe(\.isReady) { _, _ in }
      for _ in 0..<3 { operation.didChangeValue(forKey: "isReady") }
      operation.start()
      for _ in 0..<3 { operation.completionBlock = {} }
      observation.invalidate()
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = printed.split(separator: "\n").filter { $0.hasPrefix("Operations: ") }
    #expect(lines.count == 2)
    #expect(
      lines.first?.contains("called didChangeValue for “isReady” without willChangeValue") == true)
    #expect(lines.last?.contains("its new completionBlock will not run") == true)
  }

  /// Sets the diagnostic handler, and returns the log to which it adds each diagnostic.
  private static func log() -> EventLog<OperationDiagnostic.Kind> {
    let log = EventLog<OperationDiagnostic.Kind>()
    OperationDiagnostic.handler = { log.note($0.kind) }
    return log
  }
}

/// An operation that runs a closure once, when it announces that a certain property will change.
private final class ReactingOperation: Operation, @unchecked Sendable {
  private let key: String
  private let reaction: Monitored<(@Sendable (Operation) -> Void)?>

  init(to key: String, _ reaction: @escaping @Sendable (Operation) -> Void) {
    self.key = key
    self.reaction = Monitored(reaction)
    super.init()
  }

  var hasReacted: Bool { reaction.value == nil }

  override func willChangeValue(forKey key: String) {
    super.willChangeValue(forKey: key)
    if key == self.key { reaction.change { $0.take() }?(self) }
  }

  func finishesSoon() { #expect(poll(for: .seconds(Patience.seconds)) { self.state == .finished }) }
}

private final class DeafObserver: KeyValueObserver, Sendable {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}
