// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Runs COUNT operations, so that a profiler can count the instructions of the process:
//
//     instruction-probe block|chain|add-to-one|add-to-many COUNT
//
// The last two add COUNT operations to one serial queue, or one to each of COUNT serial queues, while
// operations run. The instructions of the calls that add them are to be counted there.
//
// In the first two, the work does not depend on how threads interleave: the queue runs one operation at a time, and
// starts when all have been added. So the difference between two counts is the number of
// instructions for creating, adding, running, finishing and freeing operations. It is the same in
// each run.

import Dispatch
import Glibc
import Operations

/// The first operation of a chain. Each of the others keeps the one before it alive, so that this one is
/// freed last, and says so.
final class FirstOperation: BlockOperation, @unchecked Sendable {
  static let isFreed = DispatchSemaphore(value: 0)

  deinit { Self.isFreed.signal() }
}

let arguments = CommandLine.arguments.dropFirst()
let workloads = ["block", "chain", "add-to-one", "add-to-many"]
guard arguments.count == 2, let count = arguments.last.flatMap({ Int($0) }), count > 0,
  let workload = arguments.first, workloads.contains(workload)
else {
  print("usage: instruction-probe \(workloads.joined(separator: "|")) COUNT")
  exit(EXIT_FAILURE)
}

/// Adds an operation to each of the queues, which have run one before. The operations take longer than it
/// takes to add them.
func add(to queues: [OperationQueue]) {
  for queue in queues { queue.maxConcurrentOperationCount = 1 }
  for queue in queues { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
  for queue in queues {
    queue.addOperation {
      let end = ContinuousClock.now + .microseconds(100)
      while ContinuousClock.now < end {}
    }
  }
  for queue in queues { queue.waitUntilAllOperationsAreFinished() }
}

if workload.hasPrefix("add") {
  let queues = (0..<count).map { _ in OperationQueue() }
  add(to: workload == "add-to-many" ? queues : Array(repeating: queues[0], count: count))
  exit(EXIT_SUCCESS)
}

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
queue.isSuspended = true
if workload == "block" {
  for _ in 0..<count { queue.addOperation {} }
} else {
  var last: BlockOperation?
  for _ in 0..<count {
    let operation = last == nil ? FirstOperation() : BlockOperation {}
    if let last { operation.addDependency(last) }
    queue.addOperation(operation)
    last = operation
  }
}
queue.isSuspended = false
queue.waitUntilAllOperationsAreFinished()
// The wait ends before the queue's only thread has freed the last operations. If they are a chain,
// it has freed none of them, and another thread may run the operation that is added next.
if workload == "chain" { FirstOperation.isFreed.wait() }
queue.addOperation {}
queue.waitUntilAllOperationsAreFinished()
