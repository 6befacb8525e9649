// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Runs COUNT operations, so that a profiler can count the instructions of the process:
//
//     instruction-probe block|chain|two|four|progress|add-to-one|add-to-many COUNT
//
// The workload add-to-one adds COUNT operations to one serial queue while operations run. The
// workload add-to-many adds one operation to each of COUNT serial queues while operations run. For
// these two workloads, the profiler counts the instructions of the calls that add operations.
//
// In the workloads chain, two and four, each operation depends on the last one, two or four operations before
// it. These workloads and the workload block do not depend on how threads interleave: the queue runs one
// operation at a time, and starts when all operations have been added. Therefore the difference
// between the counts for two values of COUNT is the number of instructions for creating, adding,
// running, finishing and freeing operations. The difference is the same in each run.
//
// The workload progress runs one operation, which reports its progress COUNT times.

import Dispatch
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The first operation of a chain. Each other operation keeps the previous one alive, so the first
/// operation is freed last. It then signals that it is freed.
final class FirstOperation: BlockOperation, @unchecked Sendable {
  static let isFreed = DispatchSemaphore(value: 0)

  deinit { Self.isFreed.signal() }
}

let arguments = CommandLine.arguments.dropFirst()
let workloads = ["block", "chain", "two", "four", "progress", "add-to-one", "add-to-many"]
guard arguments.count == 2, let count = arguments.last.flatMap({ Int($0) }), count > 0,
  let workload = arguments.first, workloads.contains(workload)
else {
  print("usage: instruction-probe \(workloads.joined(separator: "|")) COUNT")
  exit(EXIT_FAILURE)
}

/// Adds one operation for each element of `queues`, in which a queue may occur several times.
/// Before that, each queue runs another operation, so that no measured operation is the first one
/// of its queue. Each operation runs for longer than the addition of the next operation takes.
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
if workload == "progress" {
  queue.addOperation {
    for index in 1...count { Operation.current?.reportProgress(completed: index, of: count) }
  }
} else if workload == "block" {
  for _ in 0..<count { queue.addOperation {} }
} else if workload == "chain" {
  var last: BlockOperation?
  for _ in 0..<count {
    let operation = last == nil ? FirstOperation() : BlockOperation {}
    if let last { operation.addDependency(last) }
    queue.addOperation(operation)
    last = operation
  }
} else {
  let dependencyCount = workload == "two" ? 2 : 4
  var last: [BlockOperation] = []
  for _ in 0..<count {
    let operation = last.isEmpty ? FirstOperation() : BlockOperation {}
    for dependency in last { operation.addDependency(dependency) }
    queue.addOperation(operation)
    if last.count == dependencyCount { last.removeFirst() }
    last.append(operation)
  }
}
queue.isSuspended = false
queue.waitUntilAllOperationsAreFinished()
// The call that waits for the queue returns before the thread that ran the last operation has freed
// this operation. An operation of a chain keeps the previous one alive, so at this time no
// operation of the chain is freed. The program waits until the chain is freed. Otherwise another
// thread might run the next operation at the same time.
if workload != "block", workload != "progress" { FirstOperation.isFreed.wait() }
queue.addOperation {}
queue.waitUntilAllOperationsAreFinished()
