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
