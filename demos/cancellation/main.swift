// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// What cancelling does to an operation that runs, to one that waits for it, and to those behind them.

import Dispatch
import Operations

/// Counts until it is told to stop. Cancelling interrupts nothing: the work has to look.
final class Count: Operation, @unchecked Sendable {
  let hasBegun = DispatchSemaphore(value: 0)

  override func main() {
    print("count: begins")
    hasBegun.signal()
    var steps = 0
    while !isCancelled { steps += 1 }
    print("count: was asked to stop, and stops")
  }
}

/// Work that prints its name, and whether its dependencies were cancelled.
final class Report: Operation, @unchecked Sendable {
  override func main() {
    let wasCancelled = dependencies.contains { $0.isCancelled }
    print("\(name ?? ""): runs, a dependency was cancelled: \(wasCancelled)")
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

// Not started: it will not run, and waits for count no longer. It leaves the queue by way of a slot.
skipped.cancel()
print("skipped: ready \(skipped.isReady), finished \(skipped.isFinished)")

// Runs: it is asked.
count.cancel()
queue.waitUntilAllOperationsAreFinished()
print("skipped: finished \(skipped.isFinished), and never ran")

// A suspended queue keeps what was cancelled. This is how to let go of one.
queue.isSuspended = true
queue.addOperation { print("never") }
queue.cancelAllOperations()
print("suspended, in the queue: \(queue.operationCount)")
queue.invalidate()
queue.waitUntilAllOperationsAreFinished()
print("invalidated, in the queue: \(queue.operationCount)")
