// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import XCTest

enum OperationsFoundationAndXCTest: ImportCombination {
  private final class Job: Operation, @unchecked Sendable {}

  static var types: [Any.Type] {
    [Operation.self, BlockOperation.self, OperationQueue.self, QualityOfService.self]
  }

  static func work() -> [Any] {
    let job = Job()
    let block = BlockOperation {}
    block.addDependency(job)
    let queue = OperationQueue()
    let level: QualityOfService = .utility
    queue.qualityOfService = level
    queue.finish([job, block], for: Self.self)
    return [job, block, queue, level]
  }
}

extension OperationQueue {
  func finish(_ operations: [Operation], for _: OperationsFoundationAndXCTest.Type) {
    addOperations(operations, waitUntilFinished: true)
  }
}
