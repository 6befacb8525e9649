// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An application that always has work in two queues and cancels some of the operations. The operations react
/// to their cancellation in different ways.
struct StubbornScenario: Scenario {
  enum Alarm: Equatable, Sendable {
    /// It is time for the application to cancel this operation.
    case giveUp(PlannedTask.ID)
  }

  static let queues = [StubbornPlan.media, StubbornPlan.web]
  /// The number of unfinished operations in each queue.
  static let backlog = 8
  /// The number of operations that each queue gets in a scenario that runs once (`isOnce`).
  static let roundSize = 12

  private let isOnce: Bool
  private var plan: StubbornPlan
  private var nextID = 0
  private var addedCount: [WorkloadQueue: Int] = [:]
  /// The operations that were added and have not ended.
  private var open: [PlannedTask.ID: Unfinished] = [:]

  private struct Unfinished: Equatable, Sendable {
    let queue: WorkloadQueue
    let patience: Duration?
  }

  /// Creates a scenario that has not started.
  ///
  /// - Parameters:
  ///   - seed: The seed that determines the operations and how long they take.
  ///   - isOnce: Whether the scenario ends after one round.
  init(seed: UInt64, isOnce: Bool) {
    self.isOnce = isOnce
    plan = StubbornPlan(seed: seed)
  }

  mutating func start() -> [Step] {
    [.add(Self.queues.flatMap { queue in (0..<Self.backlog).map { _ in next(for: queue) } })]
  }

  mutating func began(_ task: PlannedTask.ID) -> [Step] {
    guard let patience = open[task]?.patience else { return [] }
    return [.wake(.giveUp(task), after: patience)]
  }

  mutating func ended(_ task: PlannedTask.ID) -> [Step] {
    guard let queue = open.removeValue(forKey: task)?.queue else { return [] }
    if !isOnce || addedCount[queue, default: 0] < Self.roundSize {
      return [.add([next(for: queue)])]
    }
    return open.isEmpty ? [.finish] : []
  }

  mutating func rang(_ alarm: Alarm) -> [Step] {
    switch alarm {
    case .giveUp(let task): open[task] == nil ? [] : [.cancel(task)]
    }
  }

  private mutating func next(for queue: WorkloadQueue) -> PlannedTask {
    let item = plan.next(for: queue, id: PlannedTask.ID(rawValue: nextID))
    nextID += 1
    addedCount[queue, default: 0] += 1
    open[item.task.id] = Unfinished(queue: queue, patience: item.patience)
    return item.task
  }
}
