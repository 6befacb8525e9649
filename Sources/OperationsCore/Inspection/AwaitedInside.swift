// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What an operation that executes waits for: its code on a thread of its own, or the library's.
package enum AwaitedInside: Sendable {
  /// `Operation.waitUntilFinished()`, or the operation that this one performs.
  case operation(Operation)
  /// `OperationQueue.waitUntilAllOperationsAreFinished()`, or the queue of a group's members.
  case queue(OperationQueue)

  fileprivate func isSame(as other: AwaitedInside) -> Bool {
    switch (self, other) {
    case (.operation(let one), .operation(let another)): one === another
    case (.queue(let one), .queue(let another)): one === another
    case (.operation, .queue), (.queue, .operation): false
    }
  }
}

extension Operation {
  /// What its own code waits for at present.
  package final var awaitedInside: [AwaitedInside] {
    // Few operations have one, and one that is made meanwhile is as good as a later one.
    rare == nil ? [] : withRare { $0?.awaitedInside ?? [] }
  }
}

extension Operation {
  /// Makes known that it waits for this. Paired with ``endAwaiting(_:)``.
  final func beginAwaiting(_ awaited: AwaitedInside) {
    makeRare { $0.awaitedInside.append(awaited) }
    noteDescriptionChanged()
  }

  /// - Precondition: The caller holds what was awaited, so that nothing is freed under the lock.
  final func endAwaiting(_ awaited: AwaitedInside) {
    makeRare { rare in
      if let index = rare.awaitedInside.lastIndex(where: { $0.isSame(as: awaited) }) {
        rare.awaitedInside.remove(at: index)
      }
    }
    noteDescriptionChanged()
  }
}

extension CurrentWork {
  /// Runs `wait`, which blocks until `awaited` comes, and lets it be known meanwhile of each operation
  /// that this thread is inside of.
  ///
  /// Outside of operations that is one look at the thread's own data.
  static func waiting(for awaited: AwaitedInside, _ wait: () -> Void) {
    let operations = operations
    if operations.isEmpty { return wait() }
    for operation in operations { operation.beginAwaiting(awaited) }
    wait()
    for operation in operations { operation.endAwaiting(awaited) }
  }
}
