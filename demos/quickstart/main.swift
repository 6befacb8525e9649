// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Two operations, one of which needs the other's result; a queue runs them in the right order,
// although they are added in the wrong one.

import Dispatch
import Operations

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2

let fetch = BlockOperation { print("fetch the tiles") }
let merge = BlockOperation { print("merge them") }
merge.addDependency(fetch)
merge.queuePriority = .high

// Nobody waits for completion blocks: a program that needs one waits for it by itself.
let completed = DispatchSemaphore(value: 0)
merge.completionBlock = {
  print("merged")
  completed.signal()
}

print("merge is ready: \(merge.isReady)")
queue.addOperations([merge, fetch], waitUntilFinished: true)
completed.wait()
print("merge is finished: \(merge.isFinished), left in the queue: \(queue.operationCount)")
