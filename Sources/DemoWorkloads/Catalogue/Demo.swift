// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The workloads that come with the program, with their names and descriptions.
public enum Demo: String, CaseIterable, Sendable {
  /// A demo that renders tiles, which are parts of large pictures, on four queues.
  case tiles
  /// A demo with three deadlocks.
  case deadlock
  /// A demo with a million operations.
  case storm
  /// A demo with operations that ignore cancellation or react to it late.
  case stubborn
  /// A demo with more work than a narrow queue can do.
  case priorities

  /// The name by which the user selects the demo, in lower-case letters.
  public var name: String { rawValue }

  /// The description of the demo in one line of at most 68 characters without a full stop.
  public var summary: String {
    switch self {
    case .tiles: "renders the Mandelbrot set tile by tile, on four queues"
    case .deadlock: "the start of an application, with three deadlocks at once"
    case .storm: "a million operations at once, with 100,000 state changes per second"
    case .stubborn: "operations that react to cancellation at once, late or never"
    case .priorities: "a queue of width 2 with too much work, at all five priorities"
    }
  }

  /// A hint for the user with the keys to press, which is shown while the demo runs. The hint is one line of
  /// at most 76 characters without a full stop.
  public var guidance: String {
    switch self {
    case .tiles: "net is suspended. Press Tab twice, select net, press S. t shows the tree"
    case .deadlock: "the banners name deadlocks. Press b to go to the blocker, x to cancel it"
    case .storm: "watch counts and rate. Press / to find job 123456, S to suspend the queue"
    case .stubborn: "some operations react late to a cancel. Press x on \"transcode film\""
    case .priorities: "operations of low priority starve. Press } to prioritize \"find contract\""
    }
  }

  /// The work of one round of the demo, in one line of at most 68 characters without a full stop.
  public var round: String {
    switch self {
    case .tiles: "renders, writes and uploads one pyramid of tiles"
    case .deadlock: "starts the application; deadlocks end after 20, 24 and 28 s"
    case .storm: "executes one million operations in about 30 s"
    case .stubborn: "executes twelve operations in each of its two queues"
    case .priorities: "executes forty operations, and ends when all have finished"
    }
  }

  /// Whether the demo writes files. The user may choose the directory for them.
  public var writesFiles: Bool { self == .tiles }

  /// Creates the workload of the demo. The workload has not started.
  ///
  /// - Throws: `WorkloadError` if the speed is out of range, or if the directory cannot be created or
  ///   written.
  public func makeWorkload(_ options: WorkloadOptions) throws(WorkloadError) -> any DemoWorkload {
    let pacing = try options.pacing()
    let seed = options.seed
    let isOnce = options.isOnce
    return switch self {
    case .tiles: try TilesWorkload(options: options)
    case .deadlock:
      ScenarioWorkload(DeadlockScenario(seed: seed, isOnce: isOnce), pacing: pacing)
    case .storm: StormWorkload(seed: seed, isOnce: isOnce, pacing: pacing)
    case .stubborn:
      ScenarioWorkload(StubbornScenario(seed: seed, isOnce: isOnce), pacing: pacing)
    case .priorities:
      ScenarioWorkload(PrioritiesScenario(seed: seed, isOnce: isOnce), pacing: pacing)
    }
  }
}
