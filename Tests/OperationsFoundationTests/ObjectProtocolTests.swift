// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import OperationsFoundation
import Testing

@Suite("Protocols of Foundation that subclasses adopt")
struct ObjectProtocolTests {
  @Test("PG-3: a subclass adopts ProgressReporting, of an operation and of a queue")
  func progressReporting() {
    let operation = ReportingOperation()
    let reporters: [any ProgressReporting] = [operation, ReportingQueue()]
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(reporters.map(\.progress.fractionCompleted) == [1, 0])
  }

  @Test("PG-3: operations and queues conform to NSObjectProtocol by identity")
  func objectProtocol() {
    let operation = BlockOperation {}
    let object: any NSObjectProtocol = operation
    #expect(object.isEqual(operation) && !object.isProxy())
    #expect(object.hash == operation.hash && object.description == operation.description)
    let queue: any NSObjectProtocol = OperationQueue.main
    #expect(!queue.isProxy())
  }
}

private final class ReportingOperation: Operation, ProgressReporting, @unchecked Sendable {
  let progress = Progress(totalUnitCount: 2)

  override func main() { progress.completedUnitCount = 2 }
}

private final class ReportingQueue: OperationQueue, ProgressReporting, @unchecked Sendable {
  let progress = Progress(totalUnitCount: 1)
}
