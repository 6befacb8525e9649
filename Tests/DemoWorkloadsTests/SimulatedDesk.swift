// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

@testable import DemoWorkloads

/// Simulates the demo of priorities without real delays. Two workers always start the ready task of
/// the highest priority. Of tasks with the same priority, they start the oldest.
struct SimulatedDesk {
  private enum Event {
    case rings(PrioritiesScenario.Alarm)
    case ends(PlannedTask)
  }

  private var scenario: PrioritiesScenario
  private var now = Duration.zero
  private var events: [(time: Duration, event: Event)] = []
  private var backlog: [PlannedTask] = []
  private var freeSlots = DeskPlan.queue.width
  private(set) var done: [PlannedTask] = []
  private var doneIDs: Set<PlannedTask.ID> = []
  private(set) var isFinished = false
  /// The maximum number of tasks that have waited at the same time.
  private(set) var longestBacklog = 0

  init(_ scenario: PrioritiesScenario) { self.scenario = scenario }

  /// The tasks that were added and have not begun.
  var waiting: [PlannedTask] { backlog }

  /// Continues the simulation until a certain time, or until the scenario has ended.
  mutating func play(until end: Duration) {
    perform(scenario.start())
    while !isFinished, let next = events.indices.min(by: { events[$0].time < events[$1].time }),
      events[next].time <= end
    {
      let (time, event) = events.remove(at: next)
      now = time
      switch event {
      case .rings(let alarm): perform(scenario.rang(alarm))
      case .ends(let task):
        done.append(task)
        doneIDs.insert(task.id)
        freeSlots += 1
        perform(scenario.ended(task.id))
      }
    }
  }

  private mutating func perform(_ steps: [PrioritiesScenario.Step]) {
    for step in steps {
      switch step {
      case .add(let tasks): backlog += tasks
      case .wake(let alarm, let delay): events.append((now + delay, .rings(alarm)))
      case .finish: isFinished = true
      case .cancel, .enqueue, .setWidth: preconditionFailure("no step of a desk's: \(step)")
      }
    }
    beginWork()
    longestBacklog = max(longestBacklog, backlog.count)
  }

  private mutating func beginWork() {
    while freeSlots > 0 {
      let ready = backlog.indices.filter { doneIDs.isSuperset(of: backlog[$0].dependencies) }
      let next = ready.max { left, right in
        let (left, right) = (backlog[left], backlog[right])
        return (left.priority.rawValue, right.id) < (right.priority.rawValue, left.id)
      }
      guard let next else { return }
      let task = backlog.remove(at: next)
      freeSlots -= 1
      events.append((now + task.duration, .ends(task)))
    }
  }
}
