// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The options of a workload.
public struct WorkloadOptions: Equatable, Sendable {
  /// The seed, which determines the operations and how long each takes; 7 by default.
  public var seed: UInt64
  /// How many times faster than planned the workload runs; above 0, 1 by default.
  public var speed: Double
  /// Whether the workload ends after one round. If not, it runs until `shutDown()`. `false` by default.
  /// ``Demo/round`` describes a round.
  public var isOnce: Bool
  /// Whether a user can control the queues. `true` by default: then ``Demo/tiles`` starts with its queue
  /// `net` suspended, unless `isOnce`.
  public var isInteractive: Bool
  /// The directory for the files of a demo that writes files. It is created if needed, and its files are
  /// never removed. `nil`, the default, is a temporary directory that is removed at the end.
  ///
  /// With `isOnce` the files of ``Demo/tiles`` are in the directory itself; otherwise each pyramid has a
  /// directory of its own in it. A pyramid takes about 15 MB. Other demos ignore this option.
  public var outputDirectory: String?

  /// Creates options. Each option has a default.
  public init(
    seed: UInt64 = 7, speed: Double = 1, isOnce: Bool = false, isInteractive: Bool = true,
    outputDirectory: String? = nil
  ) {
    self.seed = seed
    self.speed = speed
    self.isOnce = isOnce
    self.isInteractive = isInteractive
    self.outputDirectory = outputDirectory
  }
}
