// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The object that an executing operation waits for, in its own code or in the library.
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
  /// The current waits of its own code.
  package final var awaitedInside: [AwaitedInside] {
    // Few operations have a rare state. If one is created meanwhile, its wait counts as a later
    // one.
    rare == nil ? [] : withRare { $0?.awaitedInside ?? [] }
  }
}

extension Operation {
  /// Notes that it waits for this. Must be paired with ``endAwaiting(_:)``.
  final func beginAwaiting(_ awaited: AwaitedInside) {
    makeRare { $0.awaitedInside.append(awaited) }
    noteDescriptionChanged()
  }

  /// - Precondition: The caller holds the awaited object, so that nothing is released under the
  ///   lock.
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
  /// Runs `wait`, which blocks until `awaited` has finished, and notes the wait meanwhile in each
  /// operation that this thread executes.
  ///
  /// Outside operations, this only reads one variable of the thread.
  static func waiting(for awaited: AwaitedInside, _ wait: () -> Void) {
    let operations = operations
    if operations.isEmpty { return wait() }
    for operation in operations { operation.beginAwaiting(awaited) }
    wait()
    for operation in operations { operation.endAwaiting(awaited) }
  }
}
