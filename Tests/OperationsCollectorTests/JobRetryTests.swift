// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// Tests of the command that retries jobs. A process has only one handler, so each test that sets it runs in a
/// separate process.
@Suite("Jobs that a viewer retries") struct JobRetryTests {
  /// A handler that accepts the jobs with these names, and notes the names that it receives.
  private static func handler(
    accepting names: Set<String>, _ log: EventLog<[String]> = EventLog()
  ) -> JobRetry.Handler {
    { jobs in
      log.note(jobs)
      return jobs.map { names.contains($0) ? .accepted : .refused("\($0) is not a job") }
    }
  }

  /// Returns a queue with suspended operations that have these names.
  private func makeQueue(_ names: [String]) -> (WatchedQueue, [OperationReport.ID]) {
    let watched = WatchedQueue()
    watched.queue.isSuspended = true
    let operations = names.map { name in
      let operation = BlockOperation {}
      operation.name = name
      return operation
    }
    watched.queue.addOperations(operations, waitUntilFinished: false)
    watched.read()
    return (watched, operations.map { OperationReport.ID($0) })
  }

  @Test("RD-5: The handler receives the names of the operations and the other names, each once")
  func namesArriveOnce() {
    let (watched, ids) = makeQueue(["fetch", "merge", "fetch"])
    defer { watched.finishAll() }
    let log = EventLog<[String]>()
    let result = watched.table.retry(
      ids, names: ["notify", "merge"], with: Self.handler(accepting: ["fetch", "notify"], log))
    #expect(log.events == [["fetch", "merge", "notify"]])
    #expect(
      result.outcomes == [.requested, .notRetryable, .requested, .requested, .notRetryable])
    #expect(result.command == .retry(ids, names: ["notify", "merge"]))
  }

  @Test("RD-5: A refusal has the reason of the handler, by the index of its outcome")
  func reasonsArrive() {
    let (watched, ids) = makeQueue(["fetch", "merge"])
    defer { watched.finishAll() }
    let result = watched.table.retry(
      ids, names: ["later"], with: Self.handler(accepting: ["fetch"]))
    #expect(result.refusals == [1: "merge is not a job", 2: "later is not a job"])
  }

  @Test("RD-5: An operation that is not known is not given to the handler")
  func unknownOperation() {
    let (watched, ids) = makeQueue(["fetch"])
    defer { watched.finishAll() }
    let log = EventLog<[String]>()
    let unknown = OperationReport.ID(.max)
    #expect(
      watched.table.retry([unknown], names: [], with: Self.handler(accepting: [], log)).outcomes
        == [.unknown])
    #expect(log.events.isEmpty)
    let both = watched.table.retry(
      [unknown, ids[0]], names: [], with: Self.handler(accepting: ["fetch"], log))
    #expect(both.outcomes == [.unknown, .requested])
  }

  @Test("RD-5: A job without an answer of the handler is not retried")
  func missingAnswers() {
    let (watched, ids) = makeQueue(["fetch", "merge"])
    defer { watched.finishAll() }
    let result = watched.table.retry(ids, names: []) { _ in [.accepted] }
    #expect(result.outcomes == [.requested, .notRetryable])
    #expect(result.refusals == [1: "no reason given"])
  }

  @Test("RD-5: A process without a handler refuses every job")
  func withoutHandler() {
    let (watched, ids) = makeQueue(["fetch"])
    defer { watched.finishAll() }
    let unknown = OperationReport.ID(.max)
    let result = watched.table.retry(ids + [unknown], names: ["merge"], with: nil)
    #expect(result.outcomes == [.notRetryable, .notRetryable, .notRetryable])
    #expect(Set(result.refusals.values) == ["the process cannot retry jobs"])
    #expect(result.refusals.count == 3)
  }

  @Test("RD-5: A greeting contains whether the process can retry jobs")
  func greetingInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      #expect(!ProcessFacts.hello(isReadOnly: false).canRetry)
      JobRetry.setHandler { names in names.map { _ in .accepted } }
      #expect(ProcessFacts.hello(isReadOnly: false).canRetry)
      JobRetry.setHandler(nil)
      #expect(!ProcessFacts.hello(isReadOnly: false).canRetry)
    }
  }

  @Test("RD-5: A session gives the command to the handler, and a read-only session denies it")
  func sessionsInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<[String]>()
      JobRetry.setHandler(Self.handler(accepting: ["fetch"], log))
      let viewer = Viewer()
      viewer.session.send(.retry([], names: ["fetch", "merge"]))
      #expect(viewer.waitUntil { $0.lastResult?.outcomes == [.requested, .notRetryable] })
      #expect(viewer.lastResult?.refusals == [1: "merge is not a job"])
      let reader = Viewer(isReadOnly: true)
      reader.session.send(.retry([.init(7)], names: ["fetch"]))
      #expect(reader.waitUntil { $0.lastResult?.outcomes == [.denied, .denied] })
      #expect(log.events == [["fetch", "merge"]])
      viewer.session.invalidate()
      reader.session.invalidate()
    }
  }
}
