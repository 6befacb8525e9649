// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Runs COUNT operations, so that a profiler can count the instructions of the process:
//
//     instruction-probe block|chain COUNT
//
// The work does not depend on how threads interleave: the queue runs one operation at a time, and
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
