// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Combines operations: passes a result on, retries, sets a time limit, and forms a group. Shows what happens
// to an operation that requires the success of a failed operation.

import Operations

struct ServerIsBusy: Error {}

let network = OperationQueue()
let processor = OperationQueue()

// A retry makes a new operation for each attempt. In this demo, the third attempt succeeds.
let fetch = RetryOperation(maximumAttempts: 5, delay: { .milliseconds(1 << $0) }) { attempt in
  AsyncOperation<String> {
    print("attempt \(attempt)")
    if attempt < 3 { throw ServerIsBusy() }
    return "<title>Operations</title>"
  }
}
// The operation that `then` creates receives the result of the retry, and can run in another queue.
let title = fetch.then { page in String(page.dropFirst(7).dropLast(8)) }
processor.addOperation(title)
network.addOperation(fetch)
print("title: \(try await title.value)")

// Work that takes too long is cancelled. An operation that requires its success is then cancelled too, and
// does not run.
let slow = TimeoutOperation(after: .milliseconds(10)) {
  AsyncOperation { try await Task.sleep(for: .seconds(3_600)) }
}
slow.name = "slow"
let dependent = slow.then(on: processor) { print("never") }
network.addOperation(slow)
_ = try? await dependent.value
if let error = slow.error { print("slow: \(error)") }
let isByDependency = dependent.error is OperationDependencyError
print("dependent: cancelled \(dependent.isCancelled), by its dependency: \(isByDependency)")

// For other operations, a group is one operation. Its members run in a queue of their own.
let parts = (1...3).map { part in
  AsyncOperation {
    if part == 2 { throw ServerIsBusy() }
    return part
  }
}
let group = GroupOperation(parts)
let report = AsyncOperation(dependencies: [group]) { print("the group has finished") }
processor.addOperations([group, report])
try await report.value
print("parts: \(parts.count { $0.isFinished }) finished, \(group.errors.count) failed")
