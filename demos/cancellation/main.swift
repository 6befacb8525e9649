// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Cancels a running operation, and an operation that waits for it. Shows what happens to the two operations
// and to a dependent of the waiting one.

import Dispatch
import Operations

/// An operation that counts until it is cancelled. Cancelling interrupts nothing: the work has to read
/// `isCancelled`.
final class Count: Operation, @unchecked Sendable {
  let hasBegun = DispatchSemaphore(value: 0)

  override func main() {
    print("count: begins")
    hasBegun.signal()
    var steps = 0
    while !isCancelled { steps += 1 }
    print("count: is cancelled, and ends")
  }
}

/// An operation that prints its name, and whether one of its dependencies was cancelled.
final class Report: Operation, @unchecked Sendable {
  override func main() {
    let wasCancelled = dependencies.contains { $0.isCancelled }
    print("\(name ?? ""): runs; a dependency was cancelled: \(wasCancelled)")
  }
}

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1

let count = Count()
let skipped = Report()
skipped.name = "skipped"
skipped.addDependency(count)
let last = Report()
last.name = "last"
last.addDependency(skipped)
queue.addOperations([count, skipped, last], waitUntilFinished: false)

count.hasBegun.wait()
print("in the queue: \(queue.operationCount)")

// The operation `skipped` has not started. After its cancellation it will not run, and no longer waits for
// `count`. It leaves the queue when a slot is free.
skipped.cancel()
print("skipped: ready \(skipped.isReady), finished \(skipped.isFinished)")

// The operation `count` is running. Cancelling only sets its property `isCancelled`, which its `main()`
// reads.
count.cancel()
queue.waitUntilAllOperationsAreFinished()
print("skipped: finished \(skipped.isFinished); it never ran")

// A suspended queue keeps its cancelled operations. Call `cancelAllAndResume()` before you release such a queue.
queue.isSuspended = true
queue.addOperation { print("never") }
queue.cancelAllOperations()
print("suspended, in the queue: \(queue.operationCount)")
queue.cancelAllAndResume()
queue.waitUntilAllOperationsAreFinished()
print("invalidated, in the queue: \(queue.operationCount)")
