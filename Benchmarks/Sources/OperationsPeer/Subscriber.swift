// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// Reads a queue's state changes until it is released.
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
