// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// A help desk with more work than its capacity, which starts the most urgent work first. The least urgent
/// work never starts. Urgent work that depends on it never starts either.
struct PrioritiesScenario: Scenario {
  enum Alarm: Equatable, Sendable {
    /// The next piece of work arrives.
    case arrival
    /// An incident arrives. Its most urgent operation waits for an operation of the least urgent kind.
    case incident
  }

  static let queues = [DeskPlan.queue]
  /// The maximum number of waiting and running operations of each kind. While this number is reached,
  /// arriving work of the same kind is refused.
  static let limit = 10
  /// The number of operations of each kind when the scenario starts.
  static let initial = 5
  /// The maximum number of open incidents.
  static let incidentLimit = 2
  /// The time between incidents at normal speed.
  static let incidentGap = Duration.seconds(15)
  /// The number of arrivals after the start in a scenario that runs once (`isOnce`).
  static let roundSize = 40

  private let isOnce: Bool
  private var plan: DeskPlan
  private var nextID = 0
  private var arrivalCount = 0
  private var incidentCount = 0
  /// The operations that were added and have not ended.
  private var open: [PlannedTask.ID: DeskPlan.Kind] = [:]
  /// The last operation of each open incident.
  private var incidents: Set<PlannedTask.ID> = []

  /// Creates a scenario that has not started.
  ///
  /// - Parameters:
  ///   - seed: The seed that determines the operations and how long they take.
  ///   - isOnce: Whether the scenario ends after a number of arrivals.
  init(seed: UInt64, isOnce: Bool) {
    self.isOnce = isOnce
    plan = DeskPlan(seed: seed)
  }

  mutating func start() -> [Step] {
    // The least urgent operations are added first. This shows that they run last because of their priority,
    // and not because of their position in the queue.
    var tasks = DeskPlan.Kind.allCases.reversed().flatMap { kind in
      (0..<Self.initial).map { _ in task(plan.next(kind)) }
    }
    tasks += incident()
    return [.add(tasks), .wake(.incident, after: Self.incidentGap)] + nextArrival()
  }

  mutating func began(_ task: PlannedTask.ID) -> [Step] { [] }

  mutating func ended(_ task: PlannedTask.ID) -> [Step] {
    open[task] = nil
    incidents.remove(task)
    return isOver ? [.finish] : []
  }

  mutating func rang(_ alarm: Alarm) -> [Step] {
    switch alarm {
    case .arrival:
      let arrival = plan.next()
      arrivalCount += 1
      let isTaken = open.values.count { $0 == arrival.kind } < Self.limit
      let steps: [Step] = isTaken ? [.add([task(arrival)])] : []
      return steps + nextArrival()
    case .incident:
      guard !isComplete else { return [] }
      let steps: [Step] = incidents.count < Self.incidentLimit ? [.add(incident())] : []
      return steps + [.wake(.incident, after: Self.incidentGap)]
    }
  }

  /// Whether the last piece of work of a scenario that runs once (`isOnce`) has arrived.
  private var isComplete: Bool { isOnce && arrivalCount == Self.roundSize }
  private var isOver: Bool { isComplete && open.isEmpty && incidents.isEmpty }

  private mutating func nextArrival() -> [Step] {
    isComplete ? [] : [.wake(.arrival, after: plan.gap())]
  }

  private mutating func task(_ arrival: DeskPlan.Arrival) -> PlannedTask {
    let task = PlannedTask(
      id: newID(), name: "\(arrival.kind.words) \(arrival.number)", queue: DeskPlan.queue.name,
      priority: arrival.kind.priority, duration: arrival.duration)
    open[task.id] = arrival.kind
    return task
  }

  /// Returns the tasks of an incident. They are a priority inversion: the most urgent operation waits for one
  /// of the least urgent.
  private mutating func incident() -> [PlannedTask] {
    incidentCount += 1
    let contract = PlannedTask(
      id: newID(), name: "find contract \(incidentCount)", queue: DeskPlan.queue.name,
      priority: .veryLow, duration: plan.duration())
    let closing = PlannedTask(
      id: newID(), name: "close incident \(incidentCount)", queue: DeskPlan.queue.name,
      priority: .veryHigh, dependencies: [contract.id], duration: plan.duration())
    incidents.formUnion([contract.id, closing.id])
    return [contract, closing]
  }

  private mutating func newID() -> PlannedTask.ID {
    defer { nextID += 1 }
    return PlannedTask.ID(rawValue: nextID)
  }
}
