// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that does nothing for a planned time, and reacts to its cancellation as planned.
// Sendable is unchecked because the superclass is open; all stored properties are constants of
// Sendable types.
final class PacedOperation: Operation, @unchecked Sendable {
  private let manner: PlannedTask.Manner
  private let duration: Duration
  private let awaited: Operation?
  private let run: WorkloadRun
  private let whenBegun: @Sendable () -> Void

  /// - Parameters:
  ///   - task: The plan of the operation.
  ///   - duration: The real time that it takes.
  ///   - awaited: The operation that its work waits for first.
  ///   - run: Ends the work when the run is stopped, even if the operation ignores cancellation.
  ///   - whenBegun: Called before anything else.
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
    // Without this, operations in a dependency cycle would retain each other for ever.
    forgetsDependencies = true
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
