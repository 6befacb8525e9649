// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OtherOperations
import Testing

// The guide MovingFromFoundation recommends the following imports and type aliases for names that
// another module declares too.
import class OtherOperations.AsyncOperation
import class OtherOperations.GroupOperation
import enum OtherOperations.OperationState

private typealias Operation = OtherOperations.Operation
private typealias QualityOfService = OtherOperations.QualityOfService

@Suite("Names with a module that has types of the same names")
struct OtherModuleTests {
  @Test(
    "A scoped import line chooses the other module's AsyncOperation, GroupOperation, OperationState"
  )
  func scopedImports() {
    let operation: AsyncOperation = AsyncOperation()
    let group: GroupOperation = GroupOperation()
    let state: OperationState = .shut
    #expect(operation.formula == "async" && group.formula == "group" && state == .shut)
    #expect(AsyncOperation.self as Any.Type != Operations.AsyncOperation<Int>.self)
  }

  @Test(
    "A type alias chooses the other module's type of a name that Operations re-exports by scope")
  func typeAliases() {
    let operation: Operation = Operation(formula: "1 + 1")
    let quality: QualityOfService = QualityOfService(bitsPerSecond: 9_600)
    #expect(operation.formula == "1 + 1" && quality.bitsPerSecond == 9_600)
    #expect(Operations.Operation.self as Any.Type != Operation.self)
  }

  @Test("Qualified by its module, the other module's type needs no line")
  func qualifiedNames() {
    let operation = OtherOperations.Operation(formula: "x")
    let queue = OperationQueue()
    queue.addOperations([Operations.BlockOperation {}], waitUntilFinished: true)
    #expect(operation.formula == "x" && queue.operationCount == 0)
  }

  @Test("A type named State is the other module's, inside a subclass of Operation too")
  func state() {
    final class Door: Operations.Operation, @unchecked Sendable {
      var position: State = .open
    }
    let state: State = .shut
    #expect(Door().position == .open && state == .shut)
  }
}
