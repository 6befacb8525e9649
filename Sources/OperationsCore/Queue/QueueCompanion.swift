// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An object that another module of this package keeps with a queue, for as long as the queue
/// exists.
package protocol QueueCompanion: AnyObject, Sendable {
  /// The queue is about to be released. Called once, on the thread that releases it, before any
  /// part of it is gone.
  ///
  /// - Parameter queue: The queue, which can only be read: it can no longer be retained or weakly
  ///   referenced.
  func queueIsGoing(_ queue: OperationQueue)
}

extension OperationQueue {
  /// Returns the queue's companion: one object of one class, which is created when it is first
  /// used.
  ///
  /// - Parameter make: Called on the calling thread if there is no companion yet. If several
  ///   threads call at the same time, each may call it, and all get the same object. The created
  ///   object must not retain the queue.
  /// - Returns: The companion.
  package final func companion(_ make: () -> any QueueCompanion) -> AnyObject {
    // Published by the releasing exchange, and read after an acquiring one. It stays until the
    // queue is released. This is not an `AtomicLazyReference`, because ThreadSanitizer does not see
    // into that.
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

  /// Notifies the companion, if there is one, of the queue's end.
  ///
  /// - Returns: The queue's reference to it, to be released after everything else.
  final func tellCompanionOfEnd() -> Unmanaged<AnyObject>? {
    guard let companion = companionReference.load(ordering: .acquiring) else { return nil }
    (companion.takeUnretainedValue() as? any QueueCompanion)?.queueIsGoing(self)
    return companion
  }
}
