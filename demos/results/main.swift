// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Operations with results: synchronous and asynchronous ones, operations that continue with the results of
// others, a group that fails fast, and tasks on the threads of a queue.

import Operations

struct ServerIsBusy: Error {}

/// Returns the name of the queue on whose threads the function runs. The function is isolated to no actor.
/// The top-level code of a program is isolated to the main actor, and runs there.
@concurrent func currentQueueName() async -> String { OperationQueue.current?.name ?? "none" }

let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 4)
let other = OperationQueue(name: "other")

// A synchronous function may block its thread. An asynchronous function may await, and may block its thread too.
let text = queue.addOperation(name: "text") { "one two three" }
let limit = queue.addAsyncOperation(name: "limit") {
  try await Task.sleep(for: .milliseconds(10))
  return 2
}

// An operation that continues with a result can be in another queue.
let words = text.then(on: other, name: "words") { $0.split(separator: " ").map(String.init) }
print("words: \(try await words.value)")

// An operation can continue with several results of different types.
let first = queue.addAsyncOperation(name: "first words", after: words, limit) { words, limit in
  words.prefix(limit).joined(separator: " ")
}
print("first words: \(try await first.value)")

// It can also continue with the results of an array of operations.
let squares = (1...10).map { number in queue.addOperation(name: "square") { number * number } }
let sum = queue.addAsyncOperation(name: "sum", after: squares) { $0.reduce(0, +) }
print("sum: \(try await sum.value)")

// Each attempt of a retry can be a synchronous operation.
let answer = RetryOperation(maximumAttempts: 3) { attempt in
  ResultOperation {
    if attempt < 3 { throw ServerIsBusy() }
    return "attempt \(attempt)"
  }
}
queue.addOperation(answer)
print("answer: \(try await answer.value)")

// If a function throws, the operation has failed. The operations that need its result are cancelled.
let failing = queue.addOperation(name: "failing") { () throws -> Int in throw ServerIsBusy() }
let doubled = failing.then(on: queue) { $0 * 2 }
_ = try? await doubled.value
if let error = failing.error { print("failing: \(error)") }
print("doubled is cancelled: \(doubled.isCancelled)")

// If a member of this group fails, the other members are cancelled.
let endless = AsyncOperation { try await Task.sleep(for: .seconds(3_600)) }
let group = GroupOperation([AsyncOperation<Void> { throw ServerIsBusy() }, endless])
group.failsFast = true
queue.addOperation(group)
_ = try? await group.value
print("group: \(group.errors.count) failed, endless is cancelled: \(endless.isCancelled)")

// A task on the threads of a queue is no operation. It needs no slot.
queue.isSuspended = true
let name = await withTaskExecutorPreference(queue.taskExecutor) { await currentQueueName() }
print("task: in the queue “\(name)”, which has \(queue.operationCount) operations")
