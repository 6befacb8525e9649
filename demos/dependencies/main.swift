// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Operations of two queues that depend on each other; then two that do so in a circle, what says so,
// and the way out.

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

// Added in the wrong order, and to different queues: the dependencies decide.
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

// A circle hangs nobody who makes it. Its members never start.
let hen = named("hen") { print("hen") }
let egg = named("egg") { print("egg") }
hen.addDependency(egg)
egg.addDependency(hen)
processor.addOperations([hen, egg], waitUntilFinished: false)
for deadlock in processor.deadlocks() { print("deadlock: \(deadlock)") }

// What is cancelled waits for nothing any more, and what depends on it goes on.
hen.cancel()
processor.waitUntilAllOperationsAreFinished()
print("hen was cancelled: \(hen.isCancelled), egg is finished: \(egg.isFinished)")
