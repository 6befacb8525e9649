// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

extension OperationQueue {
  /// Creates a queue with a name and a width.
  ///
  /// - Parameters:
  ///   - name: The queue's ``name``.
  ///   - maxConcurrentOperationCount: The queue's ``maxConcurrentOperationCount``.
  /// - Precondition: `maxConcurrentOperationCount` is not below −1.
  public convenience init(
    name: String,
    maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount
  ) {
    self.init()
    self.name = name
    self.maxConcurrentOperationCount = maxConcurrentOperationCount
  }
}

/// The values of the queue's properties that were set, without the overrides of a subclass. The library
/// itself uses these values.
extension OperationQueue {
  /// The name of the queue that was set, or the default name. Only the queue's lock is acquired, so no
  /// code of the user runs.
  package final var givenName: String {
    let name = core.scheduler.withLock { $0.name }
    return name.isEmpty ? defaultName : name
  }

  /// The default name of a queue whose name was not set.
  final var defaultName: String { Self.defaultName(core.id) }

  static func defaultName(_ id: QueueID) -> String { "OperationQueue \(id.rawValue)" }

  final var givenWidth: Int {
    core.withScheduler { scheduler, _ in scheduler.maxConcurrentOperationCount }
  }

  final var givenSuspension: Bool { core.withScheduler { scheduler, _ in scheduler.isSuspended } }
}

extension QueueCore {
  /// Ends the process if it is a forked child, which has no threads that could start operations of this
  /// queue.
  func checkProcess(_ action: @autoclosure () -> String) {
    if csystem_is_forked_child(), !withScheduler({ scheduler, _ in scheduler.isEmpty }) {
      ForkedProcess.refuse(action())
    }
  }
}
