// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The plan of the work that the demo's application continues while deadlocks block its start. The plan
/// depends only on the seed.
struct ServicePlan: Equatable, Sendable {
  /// The queue for the work that continues while the application's start is blocked.
  static let queue = WorkloadQueue(name: "service", width: 3)
  /// The number of unfinished operations in the queue at any time.
  static let backlog = 6

  private static let names = [
    "serve request", "rotate log", "collect metrics", "expire sessions", "send heartbeat",
    "refresh token",
  ]

  private var generator: SeededGenerator
  private var count = 0

  /// Creates a plan that has not returned any operation.
  init(seed: UInt64) { generator = SeededGenerator(seed: seed, stream: 0) }

  /// Returns the next operation of the plan.
  mutating func next(id: PlannedTask.ID) -> PlannedTask {
    count += 1
    let name = Self.names[generator.index(below: Self.names.count)]
    return PlannedTask(
      id: id, name: "\(name) \(count)", queue: Self.queue.name,
      duration: generator.duration(milliseconds: 300...1_500))
  }
}
