// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Foundation
  import OperationsCore

  /// The objects that connect a queue to Foundation. They are created when one of them is used for the first
  /// time.
  ///
  /// The queue retains this companion object. No object in the companion retains the queue.
  final class FoundationCompanion: Sendable {
    let progress: QueueProgress
    private let forwarding = Locked<ForwardingQueue?>(nil)

    init(queue: OperationsCore.OperationQueue) { progress = QueueProgress(queue: queue) }

    func forwardingQueue(to queue: OperationsCore.OperationQueue) -> ForwardingQueue {
      if let known = forwarding.withLock({ $0 }) { return known }
      let made = ForwardingQueue(target: queue, progress: progress)
      return forwarding.withLock { forwarding in
        let chosen = forwarding ?? made
        forwarding = chosen
        return chosen
      }
    }
  }

  extension OperationsCore.OperationQueue {
    final var foundationCompanion: FoundationCompanion {
      let kept = companion { FoundationCompanion(queue: self) }
      guard let companion = kept as? FoundationCompanion else {
        preconditionFailure("Another module already uses the companion of this queue: \(kept)")
      }
      return companion
    }
  }
#endif
