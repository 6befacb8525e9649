// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Testing

@Suite("Types of a program with names of the library")
struct OwnTypesTests {
  @Test("AsyncOperation, GroupOperation, State and OperationState of the program have precedence")
  func ownTypes() {
    let operation = AsyncOperation()
    let group = GroupOperation([operation])
    OperationQueue().addOperations([group], waitUntilFinished: true)
    #expect(operation.isFinished && operation.own == .finished && group.state == .finished)
  }
}

private enum State { case ready, executing, finished }

private enum OperationState { case unused }

private class AsyncOperation: Operation, @unchecked Sendable {
  private(set) var own: State = .ready {
    willSet { willChangeValue(forKey: "own") }
    didSet { didChangeValue(forKey: "own") }
  }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    ["isExecuting", "isFinished"].contains(key) ? ["own"] : []
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { own == .executing }
  override var isFinished: Bool { own == .finished }

  override func start() {
    own = .executing
    own = .finished
  }
}

private final class GroupOperation: Operation, @unchecked Sendable {
  private let operations: [Operation]
  init(_ operations: [Operation]) { self.operations = operations }
  override func main() { for operation in operations { operation.start() } }
}

@Suite("Names from Objective-C")
struct ObjectiveCNamesTests {
  @Test(
    "OP-10: NSOperation, NSOperationQueue, NSBlockOperation and NSInvocationOperation are the types"
  )
  func aliases() throws {
    let invocation = NSInvocationOperation { 3 }
    let queue = NSOperationQueue()
    queue.addOperations([NSBlockOperation {}, Renamed(), invocation], waitUntilFinished: true)
    #expect(try invocation.result == 3 && NSOperation.self == Operation.self)
    #expect(NSOperationQueue.self == OperationQueue.self)
  }
}

private final class Renamed: NSOperation, @unchecked Sendable {}
