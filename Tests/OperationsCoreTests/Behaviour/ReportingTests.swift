// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

private struct Mishap: Error {}

/// Tests of the progress and the status that an operation reports.
@Suite("Reports of operations", .timeLimit(.minutes(5)))
struct ReportingTests {
  /// Records the changes of a queue while `body` runs.
  private func recording(
    _ queue: OperationQueue, body: @escaping @Sendable (CollectorID) throws -> Void
  ) async throws {
    try await onOwnThread { try keepingRecords(of: [queue], body: body) }
  }

  private func makeQueue() -> OperationQueue { OperationQueue(unlistedNamed: "test") }

  /// Returns the changed records that have reports, with the completed units.
  private static func read(_ queue: OperationQueue, _ collector: CollectorID) -> [Int?] {
    queue.takeChanges(for: collector, limit: 1_000).changed.map {
      $0.reports?.read().progress?.completed
    }
  }

  // MARK: Values

  @Test("An operation without reports has no progress and no status")
  func nothing() {
    let operation = BlockOperation {}
    #expect(operation.reportedProgress == nil && operation.reportedStatus == nil)
    #expect(operation.rare == nil)
  }

  @Test("The last report is the value, from whatever thread it comes")
  func lastReport() async throws {
    let operation = BlockOperation {}
    operation.reportProgress(completed: 1, of: 10)
    operation.reportStatus("one")
    try await onOwnThread {
      operation.reportProgress(completed: 2, of: 10)
      operation.reportStatus("two")
    }
    #expect(operation.reportedProgress ?? (0, 0) == (2, 10))
    #expect(operation.reportedStatus == "two")
    operation.reportStatus("")
    #expect(operation.reportedStatus == nil)
  }

  @Test(
    "Counts that make no sense are clamped",
    arguments: [
      (-1, 10, 0, 10), (11, 10, 10, 10), (7, 0, 7, 0), (7, -3, 7, 0), (.min, .min, 0, 0),
      (.max, .max, .max, .max),
    ])
  func clamping(completed: Int, total: Int, storedCompleted: Int, storedTotal: Int) throws {
    let operation = Operation()
    operation.reportProgress(completed: completed, of: total)
    #expect(try #require(operation.reportedProgress) == (storedCompleted, storedTotal))
  }

  @Test("A report after the finish has no effect")
  func afterFinish() {
    let operation = BlockOperation {}
    operation.reportProgress(completed: 1, of: 2)
    operation.start()
    operation.reportProgress(completed: 2, of: 2)
    operation.reportStatus("late")
    #expect(operation.reportedProgress ?? (0, 0) == (1, 2) && operation.reportedStatus == nil)
    let other = BlockOperation {}
    other.start()
    other.reportProgress(completed: 2, of: 2)
    #expect(other.reportedProgress == nil)
  }

  @Test("The rate is measured from the first report with the same total on")
  func rates() {
    var progress = ReportedProgress(completed: 3, total: 10)
    let first = progress.since
    progress.take(completed: 4, total: 10)
    #expect(progress.completed == 4 && progress.base == 3 && progress.since == first)
    progress.take(completed: 4, total: 20)
    #expect(progress.base == 4 && progress.total == 20)
    progress.take(completed: 2, total: 20)
    #expect(progress.base == 2 && progress.completed == 2 && progress.since >= first)
  }

  @Test("A retry has the reports of the attempt that runs, and a timeout those of its operation")
  func runners() async throws {
    let retry = RetryOperation(maximumAttempts: 2) { attempt in
      AsyncOperation {
        Operation.current?.reportProgress(completed: attempt, of: 2)
        Operation.current?.reportStatus("attempt \(attempt)")
        if attempt == 1 { throw Mishap() }
      }
    }
    retry.start()
    try await retry.value
    #expect(retry.reportedProgress ?? (0, 0) == (2, 2) && retry.reportedStatus == "attempt 2")
    let inner = AsyncOperation {
      Operation.current?.reportProgress(completed: 5, of: 7)
      return Operation.current?.outermostRunner.id
    }
    let timeout = TimeoutOperation(after: .seconds(60)) { inner }
    timeout.start()
    #expect(try await timeout.value == timeout.id)
    #expect(timeout.reportedProgress ?? (0, 0) == (5, 7) && inner.outermostRunner === inner)
  }

  @Test("Reports of many threads at once lose nothing but earlier values")
  func manyThreads() async throws {
    let operation = Operation()
    await withTaskGroup(of: Void.self) { group in
      for thread in 1...8 {
        group.addTask {
          for round in 1...Effort.scaled(1_000) {
            operation.reportProgress(completed: round, of: Effort.scaled(1_000))
            operation.reportStatus("thread \(thread), round \(round)")
          }
        }
      }
    }
    // The last call of all is the last call of one thread.
    let last = Effort.scaled(1_000)
    #expect(operation.reportedProgress?.completed == last)
    #expect(operation.reportedProgress?.total == last)
    #expect(operation.reportedStatus?.hasSuffix(", round \(last)") == true)
  }

  // MARK: Recording

  @Test("A collector is notified once of all reports between two readings, and reads the last one")
  func notifications() async throws {
    let queue = makeQueue()
    let wakes = Monitored(0)
    try await onOwnThread {
      keepingRecords(of: [queue], wake: { wakes.change { $0 += 1 } }) { collector in
        let isRunning = Gate()
        let mayEnd = Gate()
        let operation = BlockOperation {
          isRunning.pass()
          mayEnd.pass()
        }
        queue.addOperation(operation)
        isRunning.open()
        mayEnd.waitForArrivals(1)
        _ = Self.read(queue, collector)
        let before = wakes.value
        for completed in 1...1_000 { operation.reportProgress(completed: completed, of: 1_000) }
        wakes.wait(for: "the collector to be woken") { $0 > before }
        #expect(Self.read(queue, collector) == [1_000])
        // The wake-up for the addition of the operation may be late.
        #expect(wakes.value <= before + 2)
        #expect(Self.read(queue, collector) == [])
        operation.reportProgress(completed: 7, of: 1_000)
        #expect(Self.read(queue, collector) == [7])
        mayEnd.open()
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("A finished operation is recorded with its last report, even if it was not read before")
  func finished() async throws {
    let queue = makeQueue()
    try await recording(queue) { collector in
      let operations = (0..<100).map { index in
        InvocationOperation<Void> {
          Operation.current?.reportProgress(completed: 1, of: 2)
          Operation.current?.reportProgress(completed: 2, of: 2)
          if index.isMultiple(of: 3) { throw CancellationError() }
        }
      }
      queue.addOperations(operations, waitUntilFinished: true)
      #expect(Self.read(queue, collector) == Array(repeating: 2, count: 100))
    }
  }

  @Test("Reports before the recording and before the operation is added are recorded")
  func earlier() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    let operations = (0..<2).map { _ in BlockOperation {} }
    operations[0].reportProgress(completed: 1, of: 3)
    queue.addOperation(operations[0])
    try await recording(queue) { collector in
      operations[1].reportProgress(completed: 2, of: 3)
      queue.addOperation(operations[1])
      #expect(Self.read(queue, collector).compactMap { $0 }.sorted() == [1, 2])
      operations[0].reportProgress(completed: 3, of: 3)
      #expect(Self.read(queue, collector) == [3])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}
