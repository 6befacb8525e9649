// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Synchronization

/// A workload that plays a scenario: it performs the scenario's steps, and reports events to the scenario.
final class ScenarioWorkload<Played: Scenario>: DemoWorkload {
  private struct State {
    var scenario: Played
    var hasStarted = false
    /// The operations that have not ended. An operation that is not added to a queue never ends. The
    /// references are weak, so that such an operation can be deallocated.
    var operations: [PlannedTask.ID: WeakOperation] = [:]
  }

  private struct WeakOperation {
    weak var operation: Operation?
  }

  let queues: [String: OperationQueue]
  private let pacing: Pacing
  private let run: WorkloadRun
  private let state: Mutex<State>

  /// Creates a workload that has not started.
  init(_ scenario: Played, pacing: Pacing) {
    let all = Played.queues.map { $0.makeQueue() }
    queues = Dictionary(uniqueKeysWithValues: zip(Played.queues.map(\.name), all))
    run = WorkloadRun(queues: all)
    self.pacing = pacing
    state = Mutex(State(scenario: scenario))
  }

  func start() {
    run.decideNow {
      let isFirst = state.withLock { state in
        defer { state.hasStarted = true }
        return !state.hasStarted
      }
      if isFirst { handle { $0.start() } }
    }
  }

  func whenFinished(_ handler: @escaping @Sendable () -> Void) { run.whenFinished(handler) }

  var failure: WorkloadError? { nil }

  func shutDown() { run.shutDown() }

  /// Reports an event to the scenario and performs the steps that the scenario returns. It is called by one
  /// thread at a time.
  private func handle(_ event: (inout Played) -> [Played.Step]) {
    for step in state.withLock({ event(&$0.scenario) }) { perform(step) }
  }

  private func report(_ event: @escaping @Sendable (inout Played) -> [Played.Step]) {
    run.decide { [weak self] in self?.handle(event) }
  }

  private func perform(_ step: Played.Step) {
    switch step {
    case .add(let tasks): add(tasks)
    case .enqueue(let id, let queue): enqueue(id, queue)
    case .cancel(let id): operation(id)?.cancel()
    case .setWidth(let width, let queue): self.queue(queue).maxConcurrentOperationCount = width
    case .wake(let alarm, let delay):
      run.decide(after: pacing.time(for: delay)) { [weak self] in
        self?.handle { $0.rang(alarm) }
      }
    case .finish: run.finish()
    }
  }

  private func add(_ tasks: [PlannedTask]) {
    var made: [PlannedTask.ID: Operation] = [:]
    // Operations that wait for other operations while they run are created last, because they need references
    // to those other operations.
    for task in tasks where task.awaited == nil { made[task.id] = makeOperation(task, nil) }
    for task in tasks {
      if let awaited = task.awaited { made[task.id] = makeOperation(task, made[awaited]) }
    }
    var batches: [String: [Operation]] = [:]
    for task in tasks {
      guard let operation = made[task.id] else { continue }
      for id in task.dependencies {
        if let dependency = made[id] { operation.addDependency(dependency) }
      }
      if let queue = task.queue { batches[queue, default: []].append(operation) }
    }
    state.withLock { state in
      state.operations = state.operations.filter { $0.value.operation != nil }
      for (id, operation) in made { state.operations[id] = WeakOperation(operation: operation) }
    }
    for queue in Played.queues {
      guard let batch = batches[queue.name] else { continue }
      self.queue(queue.name).addOperations(batch, waitUntilFinished: false)
    }
  }

  private func makeOperation(_ task: PlannedTask, _ awaited: Operation?) -> Operation {
    let id = task.id
    let operation = PacedOperation(
      task, duration: pacing.time(for: task.duration), awaited: awaited, run: run
    ) { [weak self] in self?.report { $0.began(id) } }
    // The completion block also runs if the operation was cancelled before it started. In this case the work
    // of the operation does not run.
    operation.completionBlock = { [weak self] in self?.report { $0.ended(id) } }
    return operation
  }

  private func enqueue(_ id: PlannedTask.ID, _ queue: String) {
    guard let operation = operation(id) else { return report { $0.ended(id) } }
    self.queue(queue).addOperation(operation)
  }

  private func operation(_ id: PlannedTask.ID) -> Operation? {
    state.withLock { $0.operations[id]?.operation }
  }

  private func queue(_ name: String) -> OperationQueue {
    guard let queue = queues[name] else { preconditionFailure("there is no queue \(name)") }
    return queue
  }
}
