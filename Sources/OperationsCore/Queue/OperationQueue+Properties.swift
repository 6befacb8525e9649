// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The values that were set, without the overrides of a subclass. The library itself uses these.
extension OperationQueue {
  /// The name that was set, or the default name.
  final var givenName: String {
    let name = core.withScheduler { scheduler, _ in scheduler.name }
    return name.isEmpty ? defaultName : name
  }

  /// The name of a queue without a name.
  final var defaultName: String { Self.defaultName(core.id) }

  static func defaultName(_ id: QueueID) -> String { "OperationQueue \(id.rawValue)" }

  final var givenWidth: Int {
    core.withScheduler { scheduler, _ in scheduler.maxConcurrentOperationCount }
  }

  final var givenSuspension: Bool { core.withScheduler { scheduler, _ in scheduler.isSuspended } }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Cancels all operations of the queue and lets it drain: ends a suspension and the width 0.
  ///
  /// Call it before you release a queue that may be suspended. Such a queue would otherwise stay
  /// alive with its operations. The method returns immediately. The queue can still be used, and
  /// operations that are added later run.
  public func invalidate() {
    cancelAllOperations()
    if givenWidth == 0 {
      maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    }
    if givenSuspension { isSuspended = false }
  }
}

extension QueueCore {
  /// Ends a child process that expects operations of this queue to start: it has no threads for them.
  func checkProcess(_ action: @autoclosure () -> String) {
    if csystem_is_forked_child(), !withScheduler({ scheduler, _ in scheduler.isEmpty }) {
      ForkedProcess.refuse(action())
    }
  }
}
