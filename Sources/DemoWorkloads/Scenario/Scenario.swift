// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The script of a workload. A scenario is a value type with one function for each kind of event. Each
/// function returns the steps that the workload performs next.
protocol Scenario: Equatable, Sendable {
  /// The events that happen at a planned time.
  associatedtype Alarm: Equatable, Sendable
  typealias Step = ScenarioStep<Alarm>

  /// The queues to which the scenario adds tasks.
  static var queues: [WorkloadQueue] { get }

  /// Returns the first steps. It is called once, before all other functions.
  mutating func start() -> [Step]
  /// Returns the next steps after a task has begun its work. It is not called for a task that was cancelled
  /// before it began.
  mutating func began(_ task: PlannedTask.ID) -> [Step]
  /// Returns the next steps after a task in a queue has completed or was cancelled.
  mutating func ended(_ task: PlannedTask.ID) -> [Step]
  /// Returns the next steps after the time of an alarm (an event at a planned time) has come.
  mutating func rang(_ alarm: Alarm) -> [Step]
}

/// A step that a scenario requests from its workload.
enum ScenarioStep<Alarm: Equatable & Sendable>: Equatable, Sendable {
  /// The workload must create these operations in this order, and add each operation to its queue if it has
  /// one.
  case add([PlannedTask])
  /// The workload must add an existing operation that has no queue to a queue. If the operation no longer
  /// exists, it must report the operation as ended.
  case enqueue(PlannedTask.ID, queue: String)
  /// The workload must cancel an operation. If the operation has ended, it does nothing.
  case cancel(PlannedTask.ID)
  /// The workload must set the width of a queue.
  case setWidth(Int, queue: String)
  /// The workload must report this alarm to the scenario after a duration, which is planned for normal speed.
  case wake(Alarm, after: Duration)
  /// The workload, which runs only once (`isOnce`), has finished.
  case finish
}
