// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The task of an asynchronous operation. Guarded by the operation's lock.
struct AsyncTask {
  /// The task, from its creation until the work has ended.
  private(set) var task: Task<Void, Never>?
  /// The continuation of a task that began before its creating thread could store it; it resumes
  /// the task.
  private var beginning: UnsafeContinuation<Void, Never>?
  /// The task-local values for the task, until it is created; `nil` if it inherits none.
  var values: TaskLocalValues?
  /// The time at which the operation was started, on the monotonic clock in nanoseconds; `nil`
  /// before the start.
  private(set) var started: Int64?

  /// Stores the task, before its work begins, and the time of the start.
  ///
  /// - Returns: The continuation with which the caller must resume the task; `nil` if the task is
  ///   not waiting to be stored.
  mutating func taskWasMade(_ task: Task<Void, Never>) -> UnsafeContinuation<Void, Never>? {
    self.task = task
    started = csystem_monotonic_nanoseconds()
    return beginning.take()
  }

  /// Stores the continuation of the operation's task, which waits until the task itself is stored.
  ///
  /// - Returns: Whether the task is stored by now, so that the caller must resume it.
  mutating func waitsForTask(_ continuation: UnsafeContinuation<Void, Never>) -> Bool {
    if task != nil { return true }
    beginning = continuation
    return false
  }

  /// Releases the task, which retains the operation.
  mutating func end() { task = nil }
}

extension TaskPriority {
  /// Creates the priority of the task for an asynchronous operation; `nil` if no priority was set.
  ///
  /// A quality of service has an equivalent task priority. The priority in the queue is used only
  /// if no quality of service is set.
  ///
  /// - Parameters:
  ///   - qualityOfService: The operation's quality of service, or its queue's if the operation has
  ///     none.
  ///   - queuePriority: The operation's priority in its queue.
  init?(_ qualityOfService: QualityOfService, _ queuePriority: Operation.QueuePriority) {
    switch qualityOfService {
    case .userInteractive, .userInitiated: self = .high
    case .utility: self = .low
    case .background: self = .background
    case .default:
      switch queuePriority {
      case .veryHigh, .high: self = .high
      case .normal: return nil
      case .low: self = .low
      case .veryLow: self = .background
      }
    }
  }
}
