// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The settings of a queue. They can be read while the queue is being deallocated, and after its
/// deallocation.
package struct QueueSettings: Sendable {
  private let core: QueueCore

  package init(of queue: OperationQueue) { core = queue.core }

  /// Creates a queue with these settings.
  ///
  /// If the original queue has no name, the new queue gets the default name of the original queue,
  /// which contains the id of the original queue.
  package func makeQueue() -> OperationQueue {
    let queue = OperationQueue()
    let (name, width, isSuspended) = core.withScheduler { scheduler, _ in
      (scheduler.name, scheduler.maxConcurrentOperationCount, scheduler.isSuspended)
    }
    queue.name = name.isEmpty ? OperationQueue.defaultName(core.id) : name
    queue.maxConcurrentOperationCount = width
    queue.isSuspended = isSuspended
    core.scheduler.withLock({ $0.limiter }).map { queue.core.setStartLimit($0.limit) }
    queue.qualityOfService = core.givenQualityOfService
    queue.underlyingQueue = core.underlyingQueue
    return queue
  }
}

extension OperationQueue {
  /// Returns the queue's companion: an object that another module of this package keeps with a
  /// queue for as long as the queue exists. A queue has at most one companion, which is created
  /// when it is first used.
  ///
  /// - Parameter make: Creates the companion. It is called on the calling thread if the queue has
  ///   no companion yet. If several threads call this method at the same time, each may call the
  ///   closure, and all get the same object. The created object must not retain the queue.
  /// - Returns: The companion.
  package final func companion(_ make: () -> any AnyObject & Sendable) -> AnyObject {
    // The companion is published by a releasing exchange and read by an acquiring load. It stays
    // until the queue is released. The property is not an `AtomicLazyReference`, because
    // ThreadSanitizer does not support that type.
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
}
