// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The ways to learn what operations and queues do: key-value observation, states to await, the changes
// of a whole queue, and a picture of it at one moment.

import Operations

let queue = OperationQueue()
queue.name = "work"
queue.isSuspended = true
let operation = BlockOperation {}
operation.name = "operation"

// Each handler is called by whoever makes the change. The observation ends when it is released.
let observations = [
  operation.observe(\.isExecuting, options: [.old, .new]) { _, change in
    print("isExecuting: \(change.oldValue == true) → \(change.newValue == true)")
  },
  operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
    print("isFinished: \(change.newValue == true)")
  },
]

// By name, as older code does it.
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

// From here on every step of every operation in the queue.
let changes = queue.stateChanges()
queue.addOperation(operation)

// What is there now, and why nothing happens.
let snapshot = queue.snapshot()
print("\(snapshot.name): \(snapshot.counts.ready) ready of \(snapshot.counts.total)")
for reason in operation.reasonsNotRunning() { print("why not: \(reason)") }

queue.isSuspended = false
await operation.finished()
for observation in observations { observation.invalidate() }

for await change in changes {
  let old = change.oldState.map { "\($0)" } ?? "added"
  print("queue: \(old) → \(change.newState), lost: \(change.lost)")
  if change.newState == .finished { break }
}
