// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A scientific workflow: programs that are run many times, the dependencies between the runs, and the times that
/// the programs need. A run of a program is a task.
public struct Workflow: Equatable, Sendable {
  /// Tasks that run the same program.
  public struct Stage: Equatable, Sendable {
    /// The name of the program.
    public let program: String
    /// The approximate run time of the program in a published measurement, in seconds.
    public let seconds: Double
    /// The numbers of the tasks. A task has a greater number than the tasks on which it depends.
    public let tasks: Range<Int>
  }

  /// The stages, in ascending order of their tasks.
  public private(set) var stages: [Stage] = []
  /// How many milliseconds a task sleeps for a second of the published run time.
  public let millisecondsPerSecond: Double
  private var edges: [Links.Edge] = []

  init(millisecondsPerSecond: Double) { self.millisecondsPerSecond = millisecondsPerSecond }

  /// The number of tasks.
  public var count: Int { stages.last?.tasks.upperBound ?? 0 }

  /// The dependencies between the tasks.
  public var links: Links { Links(count: count, edges: edges) }

  /// Draws how long each task sleeps when the workflow is run with sleeping tasks.
  ///
  /// The times have the ratios of the published run times, with two differences. A time outside of 2.5 ms to 41 ms
  /// is replaced by the nearest of these limits. After that, each time is changed by at most 20 per cent at random,
  /// so all times are between 2 ms and 50 ms.
  ///
  /// - Parameter seed: The seed of the random changes. The same seed leads to the same times.
  /// - Returns: A time for each task, in the order of their numbers.
  public func sleeps(seed: UInt64) -> [Duration] {
    var generator = SeededGenerator(seed: seed)
    return stages.flatMap { stage in
      let usual = min(max(stage.seconds * millisecondsPerSecond, 2.5), 41)
      return stage.tasks.map { _ in
        Duration.microseconds(Int(usual * Double.random(in: 800...1_200, using: &generator)))
      }
    }
  }

  /// Adds a stage after the existing ones.
  ///
  /// - Parameters:
  ///   - program: The name of the program.
  ///   - seconds: The approximate run time of the program in a published measurement.
  ///   - count: The number of tasks.
  ///   - dependencies: Returns the numbers of the tasks on which a task of the new stage depends. The argument
  ///     is the position of the task in the new stage.
  /// - Returns: The numbers of the new tasks.
  @discardableResult
  mutating func add(
    _ program: String, seconds: Double, count: Int = 1,
    after dependencies: (Int) -> [Int] = { _ in [] }
  ) -> Range<Int> {
    let tasks = self.count..<self.count + count
    for (position, after) in tasks.enumerated() {
      edges += dependencies(position).map { Links.Edge(before: $0, after: after) }
    }
    stages.append(Stage(program: program, seconds: seconds, tasks: tasks))
    return tasks
  }
}
