// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An object with a task that reads the state changes of a queue until the object is released.
final class Subscriber: Sendable {
  private let task: Task<Void, Never>

  init(_ queue: OperationQueue) {
    let changes = queue.stateChanges()
    task = Task.detached {
      for await _ in changes {}
    }
  }

  deinit { task.cancel() }
}
