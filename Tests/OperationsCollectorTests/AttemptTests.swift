// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// An error whose description is a given text, and which notes each description.
private struct NotedError: Error, CustomStringConvertible {
  let text: String
  let log: EventLog<String>

  var description: String {
    log.note(text)
    return text
  }
}

@Suite("Attempts in the report of a retry", .onOwnThread) struct AttemptTests {
  private let watched = WatchedQueue()
  private let log = EventLog<String>()

  private func report(of retry: Operation) -> OperationReport? {
    watched.read()
    return watched.table.report(.init(retry))
  }

  /// Reads the queue until the report of a retry has the expected attempts.
  private func waitForAttempts(
    of retry: Operation, _ isExpected: (RetryAttempts) -> Bool
  ) throws -> RetryAttempts {
    var found: RetryAttempts?
    let isFound = poll(for: .seconds(Patience.seconds)) {
      found = report(of: retry)?.attempts
      return found.map(isExpected) == true
    }
    #expect(isFound, "\(String(describing: found))")
    return try #require(found)
  }

  @Test("It has each attempt, the last error, and at the end all attempts; no count includes them")
  func attempts() throws {
    let (stream, gate) = AsyncStream.makeStream(of: Void.self)
    let retry = RetryOperation(maximumAttempts: 5) { [log] number in
      let attempt = AsyncOperation<Int> {
        if number < 3 { throw NotedError(text: "error \(number)", log: log) }
        for await _ in stream {}
        return number
      }
      attempt.name = "page"
      if number == 2 { attempt.kind = "fetch" }
      return attempt
    }
    watched.queue.addOperation(retry)
    let attempts = try waitForAttempts(of: retry) { $0.number == 3 && $0.attempts.count == 3 }
    #expect(attempts.maximum == 5 && attempts.pauseEnd == nil)
    #expect(attempts.attempts.map(\.state) == [.failed, .failed, .executing])
    #expect(
      attempts.attempts.map(\.kind) == ["AsyncOperation<Int>", "fetch", "AsyncOperation<Int>"])
    #expect(attempts.attempts.allSatisfy { $0.name == "page" })
    #expect(attempts.lastFailure == .init(number: 2, text: "error 2"))
    #expect(watched.queue.snapshot().counts.total == 1)
    #expect(watched.table.entries.count == 1)
    // Another change of the retry does not describe the error again.
    let count = log.events.count
    retry.name = "renamed"
    #expect(report(of: retry)?.name == "renamed")
    #expect(log.events.count == count && log.events.last == "error 2")

    gate.finish()
    watched.queue.waitUntilAllOperationsAreFinished()
    let finished = try #require(report(of: retry))
    #expect(finished.state == .finished && finished.attempts?.pauseEnd == nil)
    #expect(finished.attempts?.attempts.map(\.state) == [.failed, .failed, .finished])
    #expect(finished.attempts?.lastFailure == .init(number: 2, text: "error 2"))
    watched.stop()
  }

  @Test("During a pause it has the end of the pause, and a cancellation ends the pause")
  func pauses() throws {
    let retry = RetryOperation<Int>(maximumAttempts: 2, delay: { _ in .seconds(3_600) }) {
      [log] number in
      AsyncOperation { throw NotedError(text: "error \(number)", log: log) }
    }
    watched.queue.addOperation(retry)
    let paused = try waitForAttempts(of: retry) { $0.pauseEnd != nil }
    #expect(paused.number == 1 && paused.attempts.map(\.state) == [.failed])
    #expect(paused.lastFailure == .init(number: 1, text: "error 1"))
    let end = try #require(paused.pauseEnd)
    #expect(end > .now + .seconds(3_000) && end < .now + .seconds(3_601))
    retry.cancel()
    watched.queue.waitUntilAllOperationsAreFinished()
    let over = try #require(report(of: retry))
    #expect(over.state == .cancelled && over.attempts?.pauseEnd == nil)
    #expect(over.attempts?.attempts.map(\.state) == [.failed])
    watched.stop()
  }

  @Test("If the last attempt fails, its error is the error of the retry, and is there once")
  func failures() throws {
    let retry = RetryOperation<Int>(maximumAttempts: 2) { [log] number in
      AsyncOperation { throw NotedError(text: "error \(number)", log: log) }
    }
    watched.queue.addOperations([retry], waitUntilFinished: true)
    let over = try #require(report(of: retry))
    #expect(over.state == .failed && over.errorText == "error 2")
    #expect(over.attempts?.attempts.map(\.state) == [.failed, .failed])
    #expect(over.attempts?.lastFailure == nil)
    watched.stop()
  }

  @Test("Other operations have no attempts")
  func otherOperations() throws {
    let operation = BlockOperation {}
    watched.queue.addOperations([operation], waitUntilFinished: true)
    #expect(try #require(report(of: operation)).attempts == nil)
    watched.stop()
  }
}
