// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The plan of one operation of a scenario: its work, and everything that a monitor shows of it.
struct PlannedTask: Equatable, Sendable {
  /// Identifies a task of one run.
  struct ID: Hashable, Comparable, Sendable {
    let rawValue: Int

    static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// How a running operation reacts to its cancellation.
  enum Manner: Equatable, Sendable {
    /// It ends at once.
    case prompt
    /// It ends at the end of the present part. All parts have the same length.
    case late(parts: Int)
    /// It ignores its cancellation.
    case deaf
  }

  let id: ID
  let name: String
  /// The queue that the operation is added to; `nil` if it is only created.
  let queue: String?
  var priority = Operation.QueuePriority.normal
  /// The tasks of the same batch that it depends on, before or behind it.
  var dependencies: [ID] = []
  /// A task of the same batch that the work first waits for, by `waitUntilFinished()`. That task does not
  /// wait in this way.
  var awaited: ID?
  var manner = Manner.prompt
  /// How long it works at speed 1, without the time for which it waits.
  let duration: Duration
}

/// The plan of a workload's queue.
struct WorkloadQueue: Hashable, Sendable {
  /// The name, by which plans refer to the queue.
  let name: String
  /// The width of the queue; above 0.
  let width: Int

  /// Creates the queue.
  func makeQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = width
    return queue
  }
}
