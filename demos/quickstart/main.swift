// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The program of README.md: dependencies, asynchronous work, and a failure that cancels an operation.

import Operations

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2

// A queue starts an operation when all of its dependencies have finished.
let fetch = BlockOperation { print("fetch the tiles") }
let merge = BlockOperation { print("merge them") }
merge.addDependency(fetch)
merge.queuePriority = .high
for operation in [merge, fetch] { queue.addOperation(operation) }
await queue.waitForAll()

// The work of an operation can be an async function. It uses a slot of the queue, but no thread.
let pages = (1...3).map { number in
  queue.addAsyncOperation {
    try await Task.sleep(for: .milliseconds(10))
    return "page \(number)"
  }
}
for page in pages { print(try await page.value) }

// If an operation fails, operations that require its success are cancelled.
let upload = AsyncOperation<Void> { throw CancellationError() }
let publish = BlockOperation { print("never printed") }
publish.addDependency(upload, requires: .success)
for operation in [upload, publish] { queue.addOperation(operation) }
await queue.waitForAll()
print("publish was cancelled: \(publish.isCancelled)")
