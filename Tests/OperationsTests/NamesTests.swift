// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations
import OperationsCore
import Testing

@Suite("Foundation and Operations imported in one file")
struct NamesTests {
  @Test("Operation, BlockOperation, OperationQueue and QualityOfService are ours, unqualified")
  func classes() {
    #expect(Operation.self as Any.Type == OperationsCore.Operation.self)
    #expect(BlockOperation.self as Any.Type == OperationsCore.BlockOperation.self)
    #expect(OperationQueue.self as Any.Type == OperationsCore.OperationQueue.self)
    #expect(QualityOfService.self as Any.Type == OperationsCore.QualityOfService.self)
    #expect(Operation.self as Any.Type != Foundation.Operation.self)
    #expect(OperationQueue.self as Any.Type != Foundation.OperationQueue.self)
  }

  @Test("Nested names, literals and subclasses resolve to ours beside Foundation's types")
  func use() {
    final class Download: Operation, @unchecked Sendable {
      let url: URL
      init(url: URL) {
        self.url = url
        super.init()
      }
    }
    let operation = Download(url: URL(fileURLWithPath: "/"))
    operation.queuePriority = .veryHigh
    operation.qualityOfService = .userInitiated
    let priority: Operation.QueuePriority = operation.queuePriority
    let queue = OperationQueue()
    queue.addOperation(operation)
    queue.addOperation {}
    #expect(priority == .veryHigh && operation.qualityOfService == QualityOfService.userInitiated)
    #expect(Date().timeIntervalSince1970 > 0)
  }

  @Test("PR-1: the priorities' raw values are Foundation's, the qualities' are Apple's")
  func rawValues() {
    for priority in Operation.QueuePriority.allCases {
      #expect(Foundation.Operation.QueuePriority(rawValue: priority.rawValue) != nil)
    }
    // The values of `QualityOfService` are those of Apple's Foundation. Foundation on Linux numbers
    // them from 0 instead.
    let values = QualityOfService.allCases.map(\.rawValue)
    #expect(values == [0x21, 0x19, 0x11, 0x09, -1])
  }
}
