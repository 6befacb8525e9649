// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Foundation
import MonitorProtocol
import Operations
import OperationsCollector
import Synchronization
import Testing

/// A viewer of a monitor session. Tests wait up to a minute for its messages.
final class Viewer: Sendable {
  private let news = DispatchSemaphore(value: 0)
  private let reports = Mutex<[OperationReport.ID: OperationReport]>([:])
  private let results = Mutex<[CommandResult]>([])
  private let queues = Mutex<[QueueReport]>([])
  private let hellos = Mutex<[Hello]>([])
  private let reported = Mutex<[MonitorWarning]>([])
  private let details = Mutex<OperationDetail?>(nil)
  let session: MonitorSession

  init(isReadOnly: Bool = false) {
    session = MonitorSession(
      minimumInterval: .milliseconds(1), interest: .everything, isReadOnly: isReadOnly
    ) {
      [news] in news.signal()
    }
  }

  func report(_ operation: Operation) -> OperationReport? {
    reports.withLock { $0[.init(operation.id.rawValue)] }
  }

  func queue(_ queue: OperationQueue) -> QueueReport? {
    queues.withLock { $0.first { $0.id.rawValue == queue.id.rawValue } }
  }

  var warnings: [MonitorWarning] { reported.withLock { $0 } }
  var detail: OperationDetail? { details.withLock { $0 } }
  var hello: Hello? { hellos.withLock { $0.first } }
  var lastResult: CommandResult? { results.withLock { $0.last } }

  func waitUntil(_ predicate: (Viewer) -> Bool) -> Bool {
    let limit = DispatchTime.now() + .seconds(60)
    while true {
      for message in session.takeMessages() { take(message) }
      if predicate(self) { return true }
      if news.wait(timeout: limit) == .timedOut { return false }
    }
  }

  private func take(_ message: MonitorMessage) {
    switch message {
    case .hello(let hello): hellos.withLock { $0.append(hello) }
    case .commandResult(let result): results.withLock { $0.append(result) }
    case .silent, .disconnected, .ended: break
    case .update(let update):
      queues.withLock { $0 = update.queues }
      reported.withLock { $0 = update.warnings }
      details.withLock { $0 = update.detail }
      reports.withLock { reports in
        for report in update.changed { reports[report.id] = report }
        for id in update.removed { reports[id] = nil }
      }
    }
  }
}

@Suite(.serialized) struct MonitorSessionTests {
  /// Counts the updates of a session, and keeps their log lines.
  private final class LogViewer: Sendable {
    private let news = DispatchSemaphore(value: 0)
    private let lines = Mutex<[String]>([])
    private let count = Mutex(0)
    let session: MonitorSession

    init(_ logs: Interest.Logs) {
      var interest = Interest(rowLimit: 0)
      interest.logs = logs
      interest.warningKinds = []
      session = MonitorSession(
        minimumInterval: .milliseconds(10), interest: interest, isReadOnly: true
      ) { [news] in news.signal() }
    }

    /// The number of updates that have arrived.
    var updateCount: Int {
      take()
      return count.withLock { $0 }
    }

    private func take() {
      for case .update(let update) in session.takeMessages() {
        count.withLock { $0 += 1 }
        lines.withLock { $0 += update.logs.flatMap(\.lines).map(\.text) }
      }
    }

    /// Waits until the session has sent a line.
    func waitFor(_ line: String) -> Bool {
      let limit = DispatchTime.now() + .seconds(60)
      while true {
        take()
        if lines.withLock({ $0.contains(line) }) { return true }
        if news.wait(timeout: limit) == .timedOut { return false }
      }
    }
  }

  /// Keeps the names of the queues in the updates of a session that have one finished operation.
  private final class QueueViewer: Sendable {
    private let news = DispatchSemaphore(value: 0)
    private let names = Mutex<Set<String>>([])
    private let session: MonitorSession

    init(interval: Duration) {
      session = MonitorSession(
        minimumInterval: interval, interest: .everything, isReadOnly: true
      ) { [news] in news.signal() }
    }

    /// Waits until an update has had a queue.
    func waitFor(_ name: String) -> Bool {
      let limit = DispatchTime.now() + .seconds(60)
      while true {
        for case .update(let update) in session.takeMessages() {
          let done = update.queues.filter { $0.counts.finished == 1 }
          names.withLock { $0.formUnion(done.map(\.name)) }
        }
        if names.withLock({ $0.contains(name) }) { return true }
        if news.wait(timeout: limit) == .timedOut { return false }
      }
    }
  }

  @Test("Each session reports the last counts of a queue that no longer exists, at any interval")
  func departedQueues() {
    let viewers = [1, 400].map { QueueViewer(interval: .milliseconds($0)) }
    let names = (1...5).map { "departed \($0)" }
    for name in names {
      do {
        let queue = OperationQueue()
        queue.name = name
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      // The first session has reported the queue, and the second one has not yet.
      #expect(viewers[0].waitFor(name))
    }
    for name in names { #expect(viewers[1].waitFor(name), "\(name)") }
  }

  @Test("While a task waits for an operation that is not in a queue, viewers receive a warning")
  func unaddedOperationInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      OperationDiagnostic.handler = { _ in }
      let queue = OperationQueue()
      let viewer = Viewer()
      let first = queue.addOperation(name: "first") { 1 }
      let never = first.then(name: "never") { $0 + 1 }
      let waiting = Task { try await never.value }
      let isWarned = viewer.waitUntil {
        $0.warnings.contains {
          $0.kind == .neverEnqueuedDependency && $0.operations.isEmpty
            && $0.awaitedTitle == "never"
        }
      }
      #expect(isWarned)
      queue.addOperation(never)
      await never.waitUntilFinished()
      _ = try await waiting.value
      #expect(viewer.waitUntil { $0.warnings.isEmpty })
      viewer.session.invalidate()
    }
  }

  @Test("Log lines alone wake the sessions that request them, and no other session")
  func logLinesWakeInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let (operation, stranger) = (BlockOperation {}, BlockOperation {})
      let id = OperationReport.ID(operation.id.rawValue)
      let (some, none) = (LogViewer(.operations([id])), LogViewer(.operations([])))
      let all = LogViewer(.all)
      operation.appendLogLine("first")
      #expect(some.waitFor("first") && all.waitFor("first"))
      let (someCount, noneCount) = (some.updateCount, none.updateCount)
      for number in 0..<30 {
        stranger.appendLogLine("line \(number) of a stranger")
        #expect(all.waitFor("line \(number) of a stranger"))
      }
      // An update that completes the first one may have arrived in the meantime.
      #expect(some.updateCount <= someCount + 2)
      for number in 0..<30 {
        operation.appendLogLine("line \(number)")
        #expect(some.waitFor("line \(number)") && all.waitFor("line \(number)"))
      }
      #expect(none.updateCount <= noneCount + 2)
      for viewer in [some, none, all] { viewer.session.invalidate() }
    }
  }

  @Test func aViewerReceivesAGreetingAndAllStatesUntilTheEnd() {
    let viewer = Viewer()
    #expect(viewer.waitUntil { $0.hello != nil })
    let queue = OperationQueue()
    queue.name = "watched"
    let gate = DispatchSemaphore(value: 0)
    let operation = BlockOperation { gate.wait() }
    queue.addOperation(operation)
    #expect(viewer.waitUntil { $0.report(operation)?.state == .executing })
    #expect(viewer.queue(queue)?.counts.executing == 1)
    gate.signal()
    #expect(viewer.waitUntil { $0.report(operation)?.state == .finished })
    #expect(viewer.waitUntil { $0.queue(queue)?.counts.finished == 1 })
    #expect(viewer.queue(queue)?.counts.isConsistent == true)
  }

  @Test("A session can keep a failed operation although 10,000 others have finished later")
  func keptFailureInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      var interest = Interest(rowLimit: 0)
      interest.warningKinds = []
      let keeper = MonitorSession(
        minimumInterval: .milliseconds(10), interest: interest, isReadOnly: true,
        keepsFinishedOperations: true
      ) {}
      let queue = OperationQueue()
      let failed = ResultOperation<Int> { throw CocoaError(.fileNoSuchFile) }
      // All operations have records before one of them starts.
      queue.isSuspended = true
      queue.addOperation(failed)
      let first = Viewer()
      #expect(first.waitUntil { $0.report(failed) != nil })
      queue.isSuspended = false
      #expect(first.waitUntil { $0.report(failed)?.state == .failed })
      queue.isSuspended = true
      let others = (0..<10_001).map { _ in BlockOperation {} }
      queue.addOperations(others)
      #expect(first.waitUntil { viewer in others.allSatisfy { viewer.report($0) != nil } })
      queue.isSuspended = false
      await queue.waitUntilAllOperationsAreFinished()
      // The operation that finishes first leaves. On a parallel queue, it can be any of the others.
      #expect(first.waitUntil { viewer in others.contains { viewer.report($0) == nil } })
      first.session.invalidate()
      let second = Viewer()
      #expect(second.waitUntil { $0.report(failed)?.state == .failed })
      second.session.invalidate()
      keeper.invalidate()
    }
  }

  @Test func cancellingAnOperationIsPerformedAndAnswered() {
    let viewer = Viewer()
    let queue = OperationQueue()
    let gate = DispatchSemaphore(value: 0)
    let operation = BlockOperation { gate.wait() }
    queue.addOperation(operation)
    #expect(viewer.waitUntil { $0.report(operation)?.state == .executing })
    let id = OperationReport.ID(operation.id.rawValue)
    viewer.session.send(.cancel([id, OperationReport.ID(.max)]))
    #expect(viewer.waitUntil { $0.lastResult?.outcomes == [.requested, .unknown] })
    #expect(operation.isCancelled)
    #expect(viewer.waitUntil { $0.report(operation)?.state == .cancelling })
    gate.signal()
    #expect(viewer.waitUntil { $0.report(operation)?.state == .cancelled })
    viewer.session.send(.cancel([id]))
    #expect(viewer.waitUntil { $0.lastResult?.outcomes == [.alreadyFinished] })
  }

  @Test func suspendingAQueueIsPerformedAndReported() {
    let viewer = Viewer()
    let queue = OperationQueue()
    viewer.session.send(.setSuspended(QueueReport.ID(queue.id.rawValue), true))
    #expect(viewer.waitUntil { $0.queue(queue)?.isSuspended == true })
    #expect(queue.isSuspended)
    viewer.session.send(.setSuspended(QueueReport.ID(queue.id.rawValue), false))
    #expect(viewer.waitUntil { $0.queue(queue)?.isSuspended == false })
  }

  @Test("A limit of starts is set, reported and removed")
  func startLimits() {
    let viewer = Viewer()
    let queue = OperationQueue()
    let limit = QueueReport.StartLimit(count: 3, periodSeconds: 10)
    viewer.session.send(.setStartLimit(QueueReport.ID(queue.id.rawValue), limit))
    #expect(viewer.waitUntil { $0.queue(queue)?.startLimit == limit })
    #expect(queue.startLimit == OperationStartLimit(3, per: .seconds(10)))
    viewer.session.send(.setStartLimit(QueueReport.ID(queue.id.rawValue), nil))
    #expect(viewer.waitUntil { $0.queue(queue)?.startLimit == nil })
    #expect(queue.startLimit == nil)
  }

  @Test("A read-only session does not set a limit of starts, and an unknown queue has none")
  func refusedStartLimits() {
    let queue = OperationQueue()
    let limit = QueueReport.StartLimit(count: 3, periodSeconds: 10)
    let readOnly = Viewer(isReadOnly: true)
    readOnly.session.send(.setStartLimit(QueueReport.ID(queue.id.rawValue), limit))
    #expect(readOnly.waitUntil { $0.lastResult?.outcomes == [.denied] })
    let viewer = Viewer()
    viewer.session.send(.setStartLimit(QueueReport.ID(.max), limit))
    #expect(viewer.waitUntil { $0.lastResult?.outcomes == [.unknown] })
    #expect(queue.startLimit == nil)
  }

  @Test func aReadOnlySessionIsDenied() {
    let viewer = Viewer(isReadOnly: true)
    let queue = OperationQueue()
    viewer.session.send(.setSuspended(QueueReport.ID(queue.id.rawValue), true))
    #expect(viewer.waitUntil { $0.lastResult?.outcomes == [.denied] })
    #expect(!queue.isSuspended)
  }

  @Test func aSecondViewerReceivesTheCompleteState() {
    let first = Viewer()
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    #expect(first.waitUntil { $0.report(operation)?.state == .held })
    let second = Viewer()
    #expect(second.waitUntil { $0.report(operation)?.state == .held })
    second.session.invalidate()
    second.session.invalidate()
    queue.isSuspended = false
    #expect(first.waitUntil { $0.report(operation)?.state == .finished })
  }

  @Test("A viewer that attaches just after another one has left receives all operations")
  func oneAfterTheOther() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    for round in 0..<50 {
      let viewer = Viewer()
      #expect(viewer.waitUntil { $0.report(operation)?.state == .held }, "round \(round)")
    }
  }

  @Test("An operation that starts after the first session was opened has the time of its start")
  func firstSession() throws {
    for round in 0..<20 {
      guard try Self.waitUntilNothingCollects() else { continue }
      let viewer = Viewer()
      let queue = OperationQueue()
      let isExecuting = DispatchSemaphore(value: 0)
      let gate = DispatchSemaphore(value: 0)
      let operation = BlockOperation {
        isExecuting.signal()
        gate.wait()
      }
      queue.addOperation(operation)
      isExecuting.wait()
      #expect(viewer.waitUntil { $0.report(operation)?.state == .executing }, "round \(round)")
      #expect(viewer.report(operation)?.started != nil, "round \(round)")
      gate.signal()
      operation.waitUntilFinished()
    }
  }

  /// Waits up to a second until the process has no collector thread.
  ///
  /// - Returns: Whether the collector thread has ended in time.
  private static func waitUntilNothingCollects() throws -> Bool {
    for _ in 0..<1_000 {
      let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
      let names = threads.map {
        try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
      }
      if !names.contains("opq-collector\n") { return true }
      usleep(1_000)
    }
    return false
  }

  @Test func watchingDoesNotKeepAnOperationAlive() {
    let viewer = Viewer()
    let queue = OperationQueue()
    weak var operation: BlockOperation?
    do {
      let block = BlockOperation {}
      operation = block
      queue.addOperation(block)
      block.waitUntilFinished()
    }
    // The thread that executed the operation may retain it until the thread runs the queue's next
    // operation.
    #expect(viewer.waitUntil { _ in queue.operationCount == 0 && operation == nil })
  }
}
