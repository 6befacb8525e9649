// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// Does nothing for a planned time, and heeds its cancellation as planned.
// Unchecked because its superclass is open; all its stored properties are constants of Sendable
// types.
final class PacedOperation: Operation, @unchecked Sendable {
  private let manner: PlannedTask.Manner
  private let duration: Duration
  private let awaited: Operation?
  private let run: WorkloadRun
  private let whenBegun: @Sendable () -> Void

  /// - Parameters:
  ///   - task: What it does.
  ///   - duration: How long that really takes.
  ///   - awaited: What its work begins with waiting for.
  ///   - run: Ends the work, however deaf, when it is stopped.
  ///   - whenBegun: Called first of all.
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
    // Where dependencies go round in a circle they would keep each other for ever.
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
