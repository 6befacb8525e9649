// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Shows how to observe operations and queues: with key-value observation, with states to await, with the
// state changes of a queue, and with a snapshot of a queue.

import Operations

/// Waits for the end of an operation. In the top-level code of a program, the compiler would choose the method of
/// the same name that blocks the thread.
func end(of operation: Operation) async { await operation.waitUntilFinished() }

let queue = OperationQueue()
queue.name = "work"
queue.isSuspended = true
let operation = BlockOperation {}
operation.name = "operation"

// Each handler of an observation is called on the thread that changes the property. An observation ends when
// it is released.
let observations = [
  operation.observe(\.isExecuting, options: [.old, .new]) { _, change in
    print("isExecuting: \(change.oldValue == true) → \(change.newValue == true)")
  },
  operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
    print("isFinished: \(change.newValue == true)")
  },
]

// Older code observes a property by its name.
final class Watcher: KeyValueObserver {
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    print("\(keyPath ?? ""): \(change?[.newKey] ?? "")")
  }
}
let watcher = Watcher()
queue.addObserver(watcher, forKeyPath: "maxConcurrentOperationCount", options: .new)
queue.maxConcurrentOperationCount = 2

// The sequence has every state change in the queue after the call of `stateChanges()`.
let changes = queue.stateChanges()
queue.addOperation(operation)

// Prints the contents of the queue, and the reasons why the operation in the suspended queue does not run.
let snapshot = queue.snapshot()
print("\(snapshot.name): \(snapshot.counts.ready) ready of \(snapshot.counts.total)")
for reason in operation.reasonsNotRunning() { print("why not: \(reason)") }

queue.isSuspended = false
await end(of: operation)
for observation in observations { observation.invalidate() }

for await change in changes {
  let old = change.oldState.map { "\($0)" } ?? "added"
  print("queue: \(old) → \(change.newState), dropped: \(change.droppedCount)")
  if change.newState == .finished { break }
}
