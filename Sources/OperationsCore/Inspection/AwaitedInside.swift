// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The object that an executing operation waits for, in its own code or in the library.
package enum AwaitedInside: Sendable {
  /// The operation waits in `Operation.waitUntilFinished()` or in `value`, or it performs another operation.
  case operation(Operation)
  /// The operation waits in `OperationQueue.waitUntilAllOperationsAreFinished()`, or it is a group
  /// and waits for the queue of its members.
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
  /// The operations and queues that the operation's own code waits for at present.
  package final var awaitedInside: [AwaitedInside] {
    // The list of waits is stored in a `RareState`, an object that most operations do not have. So
    // this property first checks without a lock whether the object exists. If another thread
    // creates the object at the same time, its wait counts as a wait that began after this check.
    rare == nil ? [] : withRare { $0?.awaitedInside ?? [] }
  }
}

extension Operation {
  /// Records that this operation waits for `awaited`. Each call must be paired with a call of
  /// ``endAwaiting(_:)``.
  final func beginAwaiting(_ awaited: AwaitedInside) {
    makeRare { $0.awaitedInside.append(awaited) }
    noteDescriptionChanged()
  }

  /// Records the end of a wait that ``beginAwaiting(_:)`` has recorded.
  ///
  /// - Precondition: The caller retains the awaited object, so that nothing is released under the
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
  /// Runs `wait`, which blocks until `awaited` has finished. During the call, each operation that
  /// this thread executes is recorded as waiting for `awaited`.
  ///
  /// If the thread executes no operation, the only additional cost is reading one thread-local
  /// variable.
  static func waiting(for awaited: AwaitedInside, _ wait: () -> Void) {
    let operations = operations
    if operations.isEmpty { return wait() }
    for operation in operations { operation.beginAwaiting(awaited) }
    wait()
    for operation in operations { operation.endAwaiting(awaited) }
  }

  /// Runs `wait`, in which the current task waits until `awaited` has finished. If the task is the task of an
  /// asynchronous operation, this operation is recorded as waiting for `awaited` during the call. The waits of
  /// child tasks are not recorded, because the operation may continue without them.
  static func awaiting(_ awaited: AwaitedInside, _ wait: () async -> Bool) async -> Bool {
    guard let operation = operationOfTask, operation.isInOwnTask else { return await wait() }
    operation.beginAwaiting(awaited)
    defer { operation.endAwaiting(awaited) }
    return await wait()
  }
}
