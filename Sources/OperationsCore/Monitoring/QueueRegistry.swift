// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The process's queues, without keeping them alive, and the collector that watches them all.
package enum QueueRegistry {
  private struct WeakQueue {
    weak var queue: OperationQueue?
  }

  private struct State {
    var queues: [QueueID: WeakQueue] = [:]
    var wakeCollector: (@Sendable () -> Void)?
  }

  private static let state = Locked(State())

  static func add(_ queue: OperationQueue) {
    let wake = state.withLock { state in
      state.queues[queue.id] = WeakQueue(queue: queue)
      return state.wakeCollector
    }
    guard let wake else { return }
    queue.core.startRecording(wake: wake)
    wake()
  }

  static func remove(_ queue: OperationQueue) {
    let wake = state.withLock { state in
      state.queues[queue.id] = nil
      return state.wakeCollector
    }
    wake?()
  }

  /// The queues that exist, by id.
  package static var queues: [OperationQueue] {
    state.withLock { $0.queues.values.compactMap(\.queue) }.sorted { $0.id < $1.id }
  }

  /// Begins to keep records in every queue, those to come included. One collector at a time.
  ///
  /// No transition falls between the first scan and the first record of a change. What was before is
  /// not known.
  ///
  /// - Parameter wake: Called on any thread, outside every lock, when there is something new since
  ///   the changes were last taken; must not block.
  package static func startRecording(wake: @escaping @Sendable () -> Void) {
    MonitorLevel.raise()
    state.withLock { $0.wakeCollector = wake }
    for queue in queues { queue.core.startRecording(wake: wake) }
    wake()
  }

  /// Ends ``startRecording(wake:)`` and drops the records.
  package static func stopRecording() {
    // Kept until every queue has dropped its copy, so that none releases the last one under a lock.
    let wake = state.withLock { $0.wakeCollector.take() }
    for queue in queues { queue.core.stopRecording() }
    withExtendedLifetime(wake) {}
    MonitorLevel.lower()
  }
}
