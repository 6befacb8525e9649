// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The program of README.md: dependencies, asynchronous work, and a failure that cancels an operation.

import Operations

let queue = OperationQueue(name: "tiles", maxConcurrentOperationCount: 2)

// A queue starts an operation when all of its dependencies have finished.
let fetch = BlockOperation { print("fetch the tiles") }
let merge = BlockOperation { print("merge them") }
merge.addDependency(fetch)
merge.queuePriority = .high
queue.addOperations([merge, fetch])

// The work of an operation can be an async function with a result. While it awaits something, it uses a slot
// of the queue, but no thread.
let pages = (1...3).map { number in
  AsyncOperation(name: "page \(number)", dependencies: [merge]) {
    try await Task.sleep(for: .milliseconds(10))
    return "page \(number)"
  }
}
queue.addOperations(pages)
for page in pages { print(try await page.value) }

// If an operation fails, operations that continue with its result are cancelled.
let upload = queue.addAsyncOperation(name: "upload") { throw CancellationError() }
let publish = upload.then(on: queue, name: "publish") { print("never printed") }
_ = try? await publish.value
print("publish was cancelled: \(publish.isCancelled)")
