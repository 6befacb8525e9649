// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that does nothing for a planned time, and reacts to its cancellation as its plan says.
// Sendable is unchecked because the superclass is open; all stored properties are constants of
// Sendable types.
final class PacedOperation: Operation, @unchecked Sendable {
  private let manner: PlannedTask.Manner
  private let duration: Duration
  private let awaited: Operation?
  private let run: WorkloadRun
  private let whenBegun: @Sendable () -> Void

  /// Creates the operation of a plan.
  ///
  /// - Parameters:
  ///   - task: The plan of the operation.
  ///   - duration: The real duration of the work.
  ///   - awaited: The operation that the work waits for before it begins its planned time; `nil` if the work
  ///     waits for no operation.
  ///   - run: The run of the workload. When it is stopped, the work ends even if the operation ignores
  ///     cancellation.
  ///   - whenBegun: A function that is called when the work begins.
  init(
    _ task: PlannedTask, duration: Duration, awaited: Operation?, run: WorkloadRun,
    whenBegun: @escaping @Sendable () -> Void
  ) {
    manner = task.manner
    self.duration = duration
    self.awaited = awaited
    self.run = run
    self.whenBegun = whenBegun
    super.init()
    name = task.name
    queuePriority = task.priority
    // The operation releases its dependencies when it finishes. Otherwise the operations of a dependency
    // cycle would retain each other and never be deallocated.
    releasesDependenciesWhenFinished = true
  }

  override func main() {
    whenBegun()
    awaited?.waitUntilFinished()
    let pacer = Pacer(duration: duration)
    switch manner {
    case .prompt: pacer.wait(forShare: 1) { isCancelled }
    case .late(let parts):
      for part in 1...parts where !isCancelled {
        pacer.wait(forShare: Double(part) / Double(parts)) { run.isStopped }
      }
    case .deaf: pacer.wait(forShare: 1) { run.isStopped }
    }
  }
}
