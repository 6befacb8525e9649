// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import TestSupport
import Testing

@Suite("The Progress of an operation", .timeLimit(.minutes(1)))
struct OperationProgressTests {
  @Test("An operation has one progress object, which does not retain it")
  func identity() {
    weak var released: OperationsFoundation.Operation?
    var progress: Progress?
    do {
      let operation = BlockOperation {}
      released = operation
      progress = operation.progress
      #expect(operation.progress === progress)
      #expect(operation.reportedProgress == nil)
    }
    #expect(released == nil)
    progress?.completedUnitCount = 3
    #expect(progress?.completedUnitCount == 3)
  }

  @Test("Setting a count reports both counts")
  func counts() throws {
    let operation = BlockOperation {}
    operation.progress.totalUnitCount = 10
    #expect(try #require(operation.reportedProgress) == (0, 10))
    operation.progress.completedUnitCount += 7
    #expect(try #require(operation.reportedProgress) == (7, 10))
    for completed in Int64(0)...10 {
      operation.progress.completedUnitCount = completed
      #expect(try #require(operation.reportedProgress) == (Int(completed), 10))
    }
  }

  @Test("The largest counts are reported")
  func largestCounts() throws {
    let operation = BlockOperation {}
    operation.progress.totalUnitCount = .max
    operation.progress.completedUnitCount = .max
    #expect(try #require(operation.reportedProgress) == (.max, .max))
  }

  @Test("A progress without a total reports the number of completed units")
  func unknownTotal() throws {
    let operation = BlockOperation {}
    operation.progress.completedUnitCount = 5
    #expect(try #require(operation.reportedProgress) == (5, 0))
  }

  @Test("The part of the children is reported when a count is set the next time")
  func children() throws {
    let operation = BlockOperation {}
    operation.progress.totalUnitCount = 100
    let child = Progress(totalUnitCount: 4, parent: operation.progress, pendingUnitCount: 50)
    child.completedUnitCount = 2
    #expect(try #require(operation.reportedProgress) == (0, 100))
    operation.progress.completedUnitCount += 10
    #expect(try #require(operation.reportedProgress) == (35, 100))
  }

  @Test("The work of an operation finds its progress")
  func current() async throws {
    let queue = OperationQueue()
    let operation = BlockOperation {
      let progress = Operation.current?.progress
      progress?.totalUnitCount = 2
      progress?.completedUnitCount = 1
    }
    try await onOwnThread { queue.addOperations([operation], waitUntilFinished: true) }
    #expect(try #require(operation.reportedProgress) == (1, 2))
  }
}
