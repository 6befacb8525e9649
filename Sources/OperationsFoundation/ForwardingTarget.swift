// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import OperationsCore

  /// The queue that a `ForwardingQueue` forwards to. It is the queue for which the `ForwardingQueue` was
  /// created. After that queue is deallocated, it is a new queue with the same settings.
  ///
  /// Notification centers refer to Foundation's queues weakly, so the queue of this library must retain the
  /// forwarding queue. URL sessions retain only the forwarding queue, which must then work without the queue
  /// of this library. A queue is deallocated only when it is empty and no reference to it is left, so another
  /// queue with the same settings can replace it.
  final class ForwardingTarget: Sendable {
    private struct State {
      weak var queue: OperationQueue?
      /// The replacement of a deallocated queue, which is created when it is first needed.
      var successor: OperationQueue?
    }

    private let state: Locked<State>
    private let settings: QueueSettings

    init(_ queue: OperationQueue) {
      state = Locked(State(queue: queue))
      settings = QueueSettings(of: queue)
    }

    /// The queue to which calls are forwarded at present.
    var queue: OperationQueue {
      if let known = state.withLock({ $0.queue ?? $0.successor }) { return known }
      let made = settings.makeQueue()
      return state.withLock { state in
        let chosen = state.successor ?? made
        state.successor = chosen
        return chosen
      }
    }
  }
#endif
