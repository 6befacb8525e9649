// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A story that a workload plays, as a value: what has happened leads to what must be done.
protocol Scenario: Equatable, Sendable {
  /// What the scenario wants to be woken for.
  associatedtype Alarm: Equatable, Sendable
  typealias Step = ScenarioStep<Alarm>

  /// The queues that its tasks are added to.
  static var queues: [WorkloadQueue] { get }

  /// The workload starts; called once, before anything else.
  mutating func start() -> [Step]
  /// A task has begun its work. What is cancelled before never does.
  mutating func began(_ task: PlannedTask.ID) -> [Step]
  /// A task that was added to a queue has finished, done or cancelled.
  mutating func ended(_ task: PlannedTask.ID) -> [Step]
  /// The time of an alarm has come.
  mutating func rang(_ alarm: Alarm) -> [Step]
}

/// What a scenario wants done.
enum ScenarioStep<Alarm: Equatable & Sendable>: Equatable, Sendable {
  /// Make these operations, and add those with a queue to it, in this order.
  case add([PlannedTask])
  /// Add an operation to a queue that was only made. Where it is gone already, it has ended.
  case enqueue(PlannedTask.ID, queue: String)
  /// Cancel an operation; nothing if it is over.
  case cancel(PlannedTask.ID)
  /// Give a queue so many slots.
  case setWidth(Int, queue: String)
  /// Wake the scenario after this time at speed 1.
  case wake(Alarm, after: Duration)
  /// The once-run is over.
  case finish
}
