// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Makes operations of two queues depend on each other. Then makes a dependency cycle, finds it with
// `deadlocks()`, and breaks it.

import Operations

func named(_ name: String, _ work: @escaping @Sendable () -> Void = {}) -> Operation {
  let operation = BlockOperation(block: work)
  operation.name = name
  return operation
}

let network = OperationQueue()
network.name = "network"
let processor = OperationQueue()
processor.name = "processor"
processor.maxConcurrentOperationCount = 1

// The operations are added in the wrong order, and to different queues. The dependencies decide the order.
let load = named("load") { print("load the page") }
let parse = named("parse") { print("parse it") }
let write = named("write") { print("write the index") }
parse.addDependency(load)
write.addDependency(parse)
network.isSuspended = true
processor.addOperations([write, parse], waitUntilFinished: false)
network.addOperation(load)

print("why does write not run?")
for reason in write.reasonsNotRunning() { print("  \(reason)") }
network.isSuspended = false
write.waitUntilFinished()

// The calls that make a cycle return as usual. The operations of the cycle never start.
let hen = named("hen") { print("hen") }
let egg = named("egg") { print("egg") }
hen.addDependency(egg)
egg.addDependency(hen)
processor.addOperations([hen, egg], waitUntilFinished: false)
for deadlock in processor.deadlocks() { print("deadlock: \(deadlock)") }

// A cancelled operation no longer waits for its dependencies, and its dependents then start.
hen.cancel()
processor.waitUntilAllOperationsAreFinished()
print("hen was cancelled: \(hen.isCancelled), egg is finished: \(egg.isFinished)")
