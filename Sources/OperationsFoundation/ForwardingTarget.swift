// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Dispatch
  import OperationsCore

  /// The queue that a `ForwardingQueue` forwards to: the one that it was made for and, after that one is
  /// deallocated, a new queue with the same settings.
  ///
  /// Notification centers refer to Foundation's queues weakly, so our queue must keep the forwarding queue.
  /// URL sessions keep only the forwarding queue, which must then work without ours. A queue is deallocated
  /// only when it is empty and no reference to it is left, so another queue with the same settings can
  /// replace it.
  final class ForwardingTarget: Sendable {
    private struct State {
      weak var queue: OperationQueue?
      /// The settings of the queue when it was deallocated or, before that, when this object was made.
      var settings: Settings
      /// The replacement, which is made when it is first needed.
      var successor: OperationQueue?
    }

    private struct Settings {
      let name: String?
      let maxConcurrentOperationCount: Int
      let isSuspended: Bool
      let qualityOfService: QualityOfService
      let underlyingQueue: DispatchQueue?

      init(_ queue: OperationQueue) {
        name = queue.name
        maxConcurrentOperationCount = queue.maxConcurrentOperationCount
        isSuspended = queue.isSuspended
        qualityOfService = queue.qualityOfService
        underlyingQueue = queue.underlyingQueue
      }

      func makeQueue() -> OperationQueue {
        let queue = OperationQueue()
        apply(to: queue)
        queue.underlyingQueue = underlyingQueue
        return queue
      }

      /// Applies all settings except the underlying queue, which cannot be set while there are operations.
      func apply(to queue: OperationQueue) {
        queue.name = name
        queue.maxConcurrentOperationCount = maxConcurrentOperationCount
        queue.isSuspended = isSuspended
        queue.qualityOfService = qualityOfService
      }
    }

    private let state: Locked<State>

    init(_ queue: OperationQueue) {
      state = Locked(State(queue: queue, settings: Settings(queue)))
    }

    /// The queue to forward to now.
    var queue: OperationQueue {
      let (known, settings) = state.withLock { ($0.queue ?? $0.successor, $0.settings) }
      if let known { return known }
      let made = settings.makeQueue()
      return state.withLock { state in
        let chosen = state.successor ?? made
        state.successor = chosen
        return chosen
      }
    }

    /// See `QueueCompanion`.
    func queueIsGoing(_ queue: OperationQueue) {
      let settings = Settings(queue)
      let successor = state.withLock { state in
        state.settings = settings
        return state.successor
      }
      // A successor exists if another thread or a subclass's `deinit` needed the queue after the last
      // reference was released and before this point.
      if let successor { settings.apply(to: successor) }
    }
  }
#endif
