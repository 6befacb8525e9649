// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Synchronization

/// A workload with a million operations at a time, whose states change a hundred thousand times a second.
///
/// An operation of this workload does no work. It only waits for a gate that limits how many operations
/// finish in each second. The state of each operation changes three times: when the operation is added, when
/// it starts, and when it finishes.
final class StormWorkload: DemoWorkload {
  /// The average time between the ends of two operations at normal speed.
  static let interval = Duration.microseconds(30)
  /// The time between two checks whether operations have finished.
  private static let look = Duration.milliseconds(50)

  let queues: [OperationQueue]
  private let seed: UInt64
  private let run: WorkloadRun
  private let state: Mutex<State>
  private let body: @Sendable () -> Void

  private struct State {
    var schedule: StormSchedule
    var hasStarted = false
  }

  /// Creates a workload that has not started.
  ///
  /// - Parameters:
  ///   - seed: The seed that determines the dependencies.
  ///   - isOnce: Whether the workload ends when its operations have finished. If it does, finished operations
  ///     are not replaced.
  ///   - pacing: The speed of the workload.
  ///   - blockLimit: The number of blocks of operations that exist at a time; above 0.
  init(seed: UInt64, isOnce: Bool, pacing: Pacing, blockLimit: Int = 1_000) {
    let queues = StormBlock.queues.map { $0.makeQueue() }
    let run = WorkloadRun(queues: queues)
    let gate = StormGate(interval: pacing.time(for: Self.interval))
    self.queues = queues
    self.seed = seed
    self.run = run
    state = Mutex(State(schedule: StormSchedule(blockLimit: blockLimit, isOnce: isOnce)))
    // All operations share one closure. A closure for each operation would double the cost of an operation.
    body = { gate.pass { run.isStopped } }
  }

  func start() {
    run.decideNow {
      let isFirst = state.withLock { state in
        defer { state.hasStarted = true }
        return !state.hasStarted
      }
      if isFirst { proceed() }
    }
  }

  func whenFinished(_ handler: @escaping @Sendable () -> Void) { run.whenFinished(handler) }

  var failure: WorkloadError? { nil }

  func shutDown() { run.shutDown() }

  /// Adds the missing blocks of operations, and schedules the next call of this function. `shutDown()` can
  /// run between two calls.
  private func proceed() {
    let unfinished = queues.reduce(0) { $0 + $1.operationCount }
    switch state.withLock({ $0.schedule.next(unfinished: unfinished) }) {
    case .add(let blocks):
      add(blocks)
      proceedLater(after: .zero)
    case .rest: proceedLater(after: Self.look)
    case .finish: run.finish()
    }
  }

  private func proceedLater(after delay: Duration) {
    run.decide(after: delay) { [weak self] in self?.proceed() }
  }

  private func add(_ blocks: Range<Int>) {
    var batches: [[Operation]] = queues.map { _ in [] }
    for number in blocks {
      let operations = operations(of: StormBlock(seed: seed, number: number))
      for (position, operation) in operations.enumerated() {
        batches[position % queues.count].append(operation)
      }
    }
    for (queue, batch) in zip(queues, batches) {
      queue.addOperations(batch, waitUntilFinished: false)
    }
  }

  private func operations(of block: StormBlock) -> [Operation] {
    var operations: [Operation] = []
    operations.reserveCapacity(StormBlock.size)
    for position in 0..<StormBlock.size {
      let operation = BlockOperation(block: body)
      operation.name = block.name(at: position)
      for dependency in block.dependencies(of: position) {
        operation.addDependency(operations[dependency])
      }
      operations.append(operation)
    }
    return operations
  }
}
