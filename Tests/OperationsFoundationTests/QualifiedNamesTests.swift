// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import OperationsFoundation
import Testing

// Code that qualifies types with `Foundation.` finds this library's types by this enumeration, as
// the guide MovingFromFoundation recommends. A ported module declares the enumeration in one file,
// and not `private`.
private enum Foundation {
  typealias BlockOperation = OperationsFoundation.BlockOperation
  typealias Date = OperationsFoundation.Date
  typealias Operation = OperationsFoundation.Operation
  typealias OperationQueue = OperationsFoundation.OperationQueue
  typealias QualityOfService = OperationsFoundation.QualityOfService
  typealias URL = OperationsFoundation.URL
}

@Suite("Names that are qualified with the module")
struct QualifiedNamesTests {
  @Test("With an enum Foundation of type aliases, Foundation.Operation and the others are ours")
  func enumOfAliases() {
    let queue = Foundation.OperationQueue()
    queue.qualityOfService = Foundation.QualityOfService.utility
    let fetch = QualifiedFetch(url: Foundation.URL(fileURLWithPath: "/"))
    queue.addOperations([fetch, Foundation.BlockOperation {}], waitUntilFinished: true)
    #expect(fetch.ended != nil && fetch.id.rawValue > 0)
    #expect(Foundation.Operation.self as Any.Type == Operation.self)
  }

  @Test("OperationsFoundation.Operation is the library's, and its other types are Foundation's")
  func qualifiedWithTheProduct() {
    let queue: OperationsFoundation.OperationQueue = OperationsFoundation.OperationQueue.main
    let operation: OperationsFoundation.Operation = OperationsFoundation.BlockOperation {}
    operation.qualityOfService = OperationsFoundation.QualityOfService.utility
    #expect(queue === OperationQueue.main && operation.id.rawValue > 0)
    #expect(OperationsFoundation.Date(timeIntervalSince1970: 0) == Date(timeIntervalSince1970: 0))
  }
}

private final class QualifiedFetch: Foundation.Operation, @unchecked Sendable {
  let url: Foundation.URL
  private(set) var ended: Foundation.Date?

  init(url: Foundation.URL) { self.url = url }

  override func main() { ended = Foundation.Date() }
}

extension Foundation.Operation {
  private var isOver: Bool { isFinished }
}
