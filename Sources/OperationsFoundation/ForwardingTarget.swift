// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
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
      /// The replacement, which is made when it is first needed.
      var successor: OperationQueue?
    }

    private let state: Locked<State>
    private let settings: QueueSettings

    init(_ queue: OperationQueue) {
      state = Locked(State(queue: queue))
      settings = QueueSettings(of: queue)
    }

    /// The queue to forward to now.
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
