// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The script of a workload, as a value: each event returns the steps that follow it.
protocol Scenario: Equatable, Sendable {
  /// The timed events of the scenario.
  associatedtype Alarm: Equatable, Sendable
  typealias Step = ScenarioStep<Alarm>

  /// The queues that its tasks are added to.
  static var queues: [WorkloadQueue] { get }

  /// Starts the workload. It is called once, before all other functions.
  mutating func start() -> [Step]
  /// Handles that a task has begun its work. It is not called for a task that was cancelled before it began.
  mutating func began(_ task: PlannedTask.ID) -> [Step]
  /// Handles that a task in a queue has finished, completed or cancelled.
  mutating func ended(_ task: PlannedTask.ID) -> [Step]
  /// Handles an alarm.
  mutating func rang(_ alarm: Alarm) -> [Step]
}

/// A step that a scenario asks for.
enum ScenarioStep<Alarm: Equatable & Sendable>: Equatable, Sendable {
  /// Create these operations, and add each one that has a queue to its queue, in this order.
  case add([PlannedTask])
  /// Add an operation that was created without being added to a queue. If the operation no longer exists, it
  /// counts as ended.
  case enqueue(PlannedTask.ID, queue: String)
  /// Cancel an operation; do nothing if it has ended.
  case cancel(PlannedTask.ID)
  /// Set the width of a queue.
  case setWidth(Int, queue: String)
  /// Wake the scenario after this time at speed 1.
  case wake(Alarm, after: Duration)
  /// The run with `isOnce` has finished.
  case finish
}
