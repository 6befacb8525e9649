// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An application that runs into three deadlocks when it starts, while its other work continues.
///
/// The application waits until the user resolves the deadlocks, and then starts again. If `isOnce` is `true`,
/// the scenario resolves the deadlocks itself, one after the other, and ends.
struct DeadlockScenario: Scenario {
  enum Alarm: Equatable, Sendable {
    /// It is time to cancel an operation of the dependency cycle.
    case breakCycle
    /// It is time to add one slot to the queue whose slots are all taken.
    case widen
    /// It is time to add the operation that the application forgot to add to a queue.
    case remember
    /// It is time to start the application again.
    case restart
  }

  static let queues = [StartupPlan.startup, StartupPlan.imports, ServicePlan.queue]

  /// The time of each deadlock's resolution in a scenario that runs once (`isOnce`), at normal speed.
  static let undoing: [(alarm: Alarm, delay: Duration)] = [
    (.breakCycle, .seconds(20)), (.widen, .seconds(24)), (.remember, .seconds(28)),
  ]
  /// How long the application stays without deadlocks before it starts again.
  static let rest = Duration.seconds(5)

  private let seed: UInt64
  private let isOnce: Bool
  private var round = 0
  private var nextID = 0
  private var plan: StartupPlan?
  private var service: ServicePlan
  /// The operations of the application's start that were added and have not ended.
  private var starting: Set<PlannedTask.ID> = []
  private var serving: Set<PlannedTask.ID> = []
  private var isEnding = false

  /// Creates a scenario that has not started.
  ///
  /// - Parameters:
  ///   - seed: The seed that determines the operations and how long they take.
  ///   - isOnce: Whether the application starts only once.
  init(seed: UInt64, isOnce: Bool) {
    self.seed = seed
    self.isOnce = isOnce
    service = ServicePlan(seed: seed)
  }

  mutating func start() -> [Step] {
    var steps = restart()
    steps.append(.add((0..<ServicePlan.backlog).map { _ in nextService() }))
    if isOnce { steps += Self.undoing.map { .wake($0.alarm, after: $0.delay) } }
    return steps
  }

  mutating func began(_ task: PlannedTask.ID) -> [Step] { [] }

  mutating func ended(_ task: PlannedTask.ID) -> [Step] {
    if serving.remove(task) != nil {
      if !isEnding { return [.add([nextService()])] }
    } else if starting.remove(task) != nil, starting.isEmpty {
      if !isOnce { return [.wake(.restart, after: Self.rest)] }
      isEnding = true
    } else {
      return []
    }
    return isEnding && serving.isEmpty ? [.finish] : []
  }

  mutating func rang(_ alarm: Alarm) -> [Step] {
    guard let plan else { return [] }
    switch alarm {
    case .breakCycle: return [.cancel(plan.cycle[0])]
    case .widen:
      return [.setWidth(StartupPlan.imports.width + 1, queue: StartupPlan.imports.name)]
    case .remember:
      guard !starting.isEmpty else { return [] }
      starting.insert(plan.forgotten)
      return [.enqueue(plan.forgotten, queue: StartupPlan.startup.name)]
    case .restart: return restart()
    }
  }

  private mutating func restart() -> [Step] {
    round += 1
    let plan = StartupPlan(seed: seed, round: round, firstID: nextID)
    self.plan = plan
    nextID += plan.tasks.count
    starting = Set(plan.tasks.filter { $0.queue != nil }.map(\.id))
    // The width of the queue is reset, because the user may have widened the queue to resolve the last
    // deadlock.
    return [
      .setWidth(StartupPlan.imports.width, queue: StartupPlan.imports.name), .add(plan.tasks),
    ]
  }

  private mutating func nextService() -> PlannedTask {
    defer { nextID += 1 }
    let task = service.next(id: PlannedTask.ID(rawValue: nextID))
    serving.insert(task.id)
    return task
  }
}
