// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Foundation
  import OperationsCore
  import class OperationsCore.OperationQueue

  /// What a queue has for Foundation's sake, made when the first of it is asked for.
  ///
  /// The queue keeps it; nothing in it keeps the queue.
  final class FoundationCompanion: Sendable {
    private struct State {
      /// It holds the queue, so the queue must not hold it.
      weak var forwardingQueue: ForwardingQueue?
    }

    let progress: QueueProgress
    private let state = Locked(State())

    init(queue: OperationQueue) { progress = QueueProgress(queue: queue) }

    func forwardingQueue(to queue: OperationQueue) -> ForwardingQueue {
      if let known = state.withLock({ $0.forwardingQueue }) { return known }
      let made = ForwardingQueue(target: queue)
      return state.withLock { state in
        if let known = state.forwardingQueue { return known }
        state.forwardingQueue = made
        return made
      }
    }
  }

  extension OperationQueue {
    final var foundationCompanion: FoundationCompanion {
      let kept = companion { FoundationCompanion(queue: self) }
      guard let companion = kept as? FoundationCompanion else {
        preconditionFailure("Another module keeps something with this queue: \(kept)")
      }
      return companion
    }
  }
#endif
