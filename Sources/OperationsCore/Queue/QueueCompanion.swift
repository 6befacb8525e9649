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
    // Published by the releasing exchange, and read after an acquiring one; then it stays until the
    // queue goes. Not an `AtomicLazyReference`: ThreadSanitizer does not see into that.
    if let known = companionReference.load(ordering: .acquiring) {
      return known.takeUnretainedValue()
    }
    let made = Unmanaged<AnyObject>.passRetained(make())
    let (_, known) = companionReference.compareExchange(
      expected: nil, desired: made, ordering: .acquiringAndReleasing)
    guard let known else { return made.takeUnretainedValue() }
    made.release()
    return known.takeUnretainedValue()
  }

  /// For the queue's end: tells the companion, if there is one.
  ///
  /// - Returns: The queue's reference to it, to be released when all else has gone.
  final func tellCompanionOfEnd() -> Unmanaged<AnyObject>? {
    guard let companion = companionReference.load(ordering: .acquiring) else { return nil }
    (companion.takeUnretainedValue() as? any QueueCompanion)?.queueIsGoing(self)
    return companion
  }
}
