// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Logging
import Operations
import OperationsCore
import OperationsMonitor
import TestSupport
import Testing

@Suite("The log handler for operations", .timeLimit(.minutes(5)))
struct OperationLogHandlerTests {
  /// A handler that adds its lines to an object, with value semantics as swift-log requires.
  private struct WrittenLines: LogHandler {
    let lines: EventLog<String>
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.note("\(event.level): \(event.message)") }
  }

  private let written = EventLog<String>()

  private func logger(_ provider: Logger.MetadataProvider? = nil) -> Logger {
    Logger(label: "test") { [written] _ in
      OperationLogHandler(wrapping: WrittenLines(lines: written, metadataProvider: provider))
    }
  }

  /// The stored lines of an operation, each as its level and its text.
  private func stored(_ operation: Operation) -> [String] {
    OperationLogStore.shared.lines(of: .operations([operation.id]), in: 1...UInt64.max)
      .flatMap(\.lines).map { "\($0.level): \($0.text)" }
  }

  private func run(_ body: @escaping @Sendable () -> Void) async -> Operation {
    let operation = BlockOperation(block: body)
    OperationQueue().addOperation(operation)
    await operation.waitUntilFinished()
    return operation
  }

  @Test("A line in the block of an operation is written, and stored as a line of the operation")
  func block() async {
    let logger = logger()
    let operation = await run { logger.notice("hello") }
    #expect(stored(operation) == ["notice: hello"])
    #expect(written.events == ["notice: hello"])
  }

  @Test("Lines of an asynchronous operation are stored after a suspension and in child tasks")
  func asynchronous() async throws {
    let logger = logger()
    let operation = AsyncOperation {
      logger.info("before")
      await Task.yield()
      logger.info("after")
      await withTaskGroup { group in group.addTask { logger.info("in a child") } }
      await Task { logger.info("in a task") }.value
      await Task.detached { logger.info("detached") }.value
    }
    OperationQueue().addOperation(operation)
    try await operation.value
    #expect(
      stored(operation) == ["info: before", "info: after", "info: in a child", "info: in a task"])
    #expect(written.events.count == 5)
  }

  @Test("Lines of the attempts of a retry are lines of the retry")
  func attempts() async throws {
    let logger = logger()
    let retry = RetryOperation(maximumAttempts: 3) { number in
      AsyncOperation {
        logger.info("attempt \(number)")
        if number < 2 { throw OperationTimeoutError(limit: .seconds(1)) }
      }
    }
    OperationQueue().addOperation(retry)
    try await retry.value
    #expect(stored(retry) == ["info: attempt 1", "info: attempt 2"])
  }

  @Test("A line outside of operations is written and not stored")
  func outside() {
    let before = OperationLogStore.shared.sequence
    logger().info("outside of operations, after \(before)")
    #expect(written.events.count == 1)
    let lines = OperationLogStore.shared.lines(of: .all, in: 1...UInt64.max).flatMap(\.lines)
    #expect(!lines.contains { $0.text.contains("outside of operations") })
  }

  @Test("The text has the message and the metadata, sorted, of which the event's own counts most")
  func metadata() async {
    var logger = logger(Logger.MetadataProvider { ["b": "provided", "c": "provided"] })
    logger[metadataKey: "a"] = "handler's"
    logger[metadataKey: "b"] = "handler's"
    #expect(logger[metadataKey: "a"] == "handler's")
    let copy = logger
    let operation = await run { copy.info("message", metadata: ["c": ["x", "y"], "d": "z"]) }
    #expect(stored(operation) == ["info: message a=handler's b=provided c=[\"x\", \"y\"] d=z"])
  }

  @Test("The error of a line is part of its text")
  func error() async {
    let logger = logger()
    let operation = await run {
      logger.error("failed", error: OperationTimeoutError(limit: .seconds(2)))
    }
    let description = "\(OperationTimeoutError(limit: .seconds(2)))"
    #expect(stored(operation) == ["error: failed error=\(description)"])
  }

  @Test("Lines below the log level are neither written nor stored, and the level can be changed")
  func logLevel() async {
    var logger = logger()
    #expect(logger.logLevel == .info)
    let quiet = logger
    logger.logLevel = .trace
    #expect(quiet.logLevel == .info)
    let loud = logger
    let operation = await run {
      quiet.debug("not logged")
      loud.trace("logged")
      loud.critical("logged too")
    }
    #expect(stored(operation) == ["trace: logged", "critical: logged too"])
    #expect(written.events == ["trace: logged", "critical: logged too"])
  }

  @Test("A long message is cut, and written as it is")
  func longMessage() async throws {
    let logger = logger()
    let text = String(repeating: "x", count: 10_000)
    let operation = await run { logger.info("\(text)", metadata: ["key": "value"]) }
    let line = try #require(stored(operation).first)
    #expect(line.utf8.count == 500 + "info: ".utf8.count && line.hasSuffix("…"))
    #expect(written.events == ["info: \(text)"])
  }
}
