// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What was set, without the overrides of a subclass. The library itself uses these.
extension OperationQueue {
  /// What was set, or else the name made from the queue's id.
  final var givenName: String {
    let name = core.withScheduler { scheduler, _ in scheduler.name }
    return name.isEmpty ? defaultName : name
  }

  /// The name of a queue that was given none.
  final var defaultName: String { "OperationQueue \(core.id.rawValue)" }

  final var givenWidth: Int {
    core.withScheduler { scheduler, _ in scheduler.maxConcurrentOperationCount }
  }

  final var givenSuspension: Bool { core.withScheduler { scheduler, _ in scheduler.isSuspended } }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Cancels everything that is in the queue and lets it drain: ends suspension, and the width 0.
  ///
  /// For whoever lets go of a queue that may be suspended, which would otherwise stay with all that
  /// it holds. Returns at once. The queue may be used further, and what is added afterwards runs.
  public func invalidate() {
    cancelAllOperations()
    if givenWidth == 0 {
      maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    }
    if givenSuspension { isSuspended = false }
  }
}
