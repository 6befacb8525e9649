// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The options of a workload.
public struct WorkloadOptions: Equatable, Sendable {
  /// The seed of the random numbers that determine the operations and how long each takes. The default is 7.
  public var seed: UInt64
  /// How many times faster than planned the workload runs. The value is above 0. The default is 1, which is
  /// the normal speed.
  public var speed: Double
  /// Whether the workload ends after one round, as ``Demo/round`` describes it. If not, the workload runs
  /// until `shutDown()`. The default is `false`.
  public var isOnce: Bool
  /// Whether a user can control the queues. The default is `true`. If it is `true` and `isOnce` is `false`,
  /// ``Demo/tiles`` starts with its queue `net` suspended, and also renders posters, which take 10 to 30 s
  /// each.
  public var isInteractive: Bool
  /// The directory for the files of a demo that writes files. The workload creates the directory if needed,
  /// and never removes its files. If it is `nil`, which is the default, the files are in a temporary
  /// directory that is removed at the end.
  ///
  /// If `isOnce` is `true`, the files of ``Demo/tiles`` are in the directory itself. Otherwise each tile
  /// pyramid, which is one picture in several sizes, has its own subdirectory. A tile pyramid takes about 15
  /// MB of disk space, and the last two posters take 2 MB. Demos that write no files ignore this option.
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
