// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What has to be done after the queue's lock was released, in the order of the members.
struct QueueEffects {
  /// A worker more would find something to do.
  var hasWork = false
  /// To be called: somebody has asked to be told of changes.
  var wakes: [@Sendable () -> Void] = []
  /// To be opened: the queue is empty.
  var latches: [Latch] = []
  /// To be released, linked through `inboxNext`: nobody pushes what has left the queue.
  private(set) var released: Unmanaged<Operation>?
  /// How often the queue's public object is to be released.
  var ownerReleases = 0

  /// Hands over the queue's reference to an operation.
  mutating func release(_ operation: Operation) {
    operation.inboxNext = released
    released = .passUnretained(operation)
  }

  /// Releases the operations, which may run a `deinit` of the user's.
  mutating func releaseOperations() {
    while let operation = released {
      released = operation._withUnsafeGuaranteedRef { $0.inboxNext }
      operation.release()
    }
  }
}
