// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What another module of this package keeps with a queue, for as long as the queue exists.
package protocol QueueCompanion: AnyObject, Sendable {
  /// The queue is about to go away. Called once, on the thread that releases it, before anything of
  /// it has gone.
  ///
  /// - Parameter queue: To be read only: it can neither be retained any more nor referred to weakly.
  func queueIsGoing(_ queue: OperationQueue)
}

extension OperationQueue {
  /// The queue's companion: one object of one class, made when it is first asked for.
  ///
  /// - Parameter make: Called on the asking thread where there is none yet. Where several threads ask
  ///   at the same time each may call it, and all are given the same object. What it makes must not
  ///   retain the queue.
  /// - Returns: The companion.
  package final func companion(_ make: () -> any QueueCompanion) -> AnyObject {
    companionReference.load() ?? companionReference.storeIfNil(make())
  }

  final func tellCompanionOfEnd() {
    guard let companion = companionReference.load() else { return }
    (companion as? any QueueCompanion)?.queueIsGoing(self)
  }
}
