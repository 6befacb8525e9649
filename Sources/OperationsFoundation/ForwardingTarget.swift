// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Dispatch
  import OperationsCore

  /// The queue that a `ForwardingQueue` hands on to: the one that it was made for and, once that has
  /// gone, one that was set up like it.
  ///
  /// Notification centres refer to Foundation's queues weakly, so ours must keep the forwarding one;
  /// sessions keep nothing but the forwarding one, which must then do without ours. A queue goes away
  /// only when it is empty and nobody has it: another one of the same kind is as good.
  final class ForwardingTarget: Sendable {
    private struct State {
      weak var queue: OperationQueue?
      /// What the queue was like when it went away; before that, when this was made.
      var settings: Settings
      /// Made when it is first needed.
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

      /// All but the underlying queue, which cannot be set while there are operations.
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

    /// The queue to hand on to now.
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
      // Needed between the moment from which nobody can have the queue and this one: by another
      // thread, or by a subclass's `deinit`.
      if let successor { settings.apply(to: successor) }
    }
  }
#endif
