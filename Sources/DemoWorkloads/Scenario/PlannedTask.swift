// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The plan of an operation of a scenario: its work, and all its properties that a monitor shows.
struct PlannedTask: Equatable, Sendable {
  /// Identifies a task of a workload.
  struct ID: Hashable, Comparable, Sendable {
    let rawValue: Int

    static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// The reaction of a running operation to its cancellation.
  enum Manner: Equatable, Sendable {
    /// The operation ends at once.
    case prompt
    /// The operation ends at the end of the present part of its work. All parts have the same length.
    case late(parts: Int)
    /// The operation ignores its cancellation.
    case deaf
  }

  let id: ID
  let name: String
  /// The name of the queue to which the operation is added; `nil` if it is created but not added to a queue.
  let queue: String?
  var priority = Operation.QueuePriority.normal
  /// The dependencies of the task. They are added in the same step as the task, before or after it.
  var dependencies: [ID] = []
  /// The task for which the work first waits with `waitUntilFinished()`; `nil` if the work waits for no task.
  /// The awaited task is added in the same step, and does not itself wait in this way.
  var awaited: ID?
  var manner = Manner.prompt
  /// How long the task works at normal speed. The time for which it waits is not included.
  let duration: Duration
}

/// The plan of a workload's queue.
struct WorkloadQueue: Hashable, Sendable {
  /// The name of the queue. Plans refer to the queue by its name.
  let name: String
  /// The width of the queue, which is above 0.
  let width: Int

  /// Creates a queue with this name and this width.
  func makeQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = width
    return queue
  }
}
