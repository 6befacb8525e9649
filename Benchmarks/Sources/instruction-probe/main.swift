// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Does so many operations, for one who counts the process's instructions:
//
//     instruction-probe block|chain COUNT
//
// Nothing in it depends on how threads happen to meet: the queue runs one operation at a time, and
// only when all have been added. So what COUNT operations more cost in instructions is the cost of
// creating, adding, running, finishing and freeing them, the same each time.

import Glibc
import Operations

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let count = arguments.last.flatMap({ Int($0) }), count > 0,
  let workload = arguments.first, ["block", "chain"].contains(workload)
else {
  print("usage: instruction-probe block|chain COUNT")
  exit(EXIT_FAILURE)
}

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
queue.isSuspended = true
if workload == "block" {
  for _ in 0..<count { queue.addOperation {} }
} else {
  var last: BlockOperation?
  for _ in 0..<count {
    let operation = BlockOperation {}
    if let last { operation.addDependency(last) }
    queue.addOperation(operation)
    last = operation
  }
}
queue.isSuspended = false
queue.waitUntilAllOperationsAreFinished()
// The wait ends before the queue's only thread has freed the last operations, of a chain all of them;
// it comes to this one when it has.
queue.addOperation {}
queue.waitUntilAllOperationsAreFinished()
