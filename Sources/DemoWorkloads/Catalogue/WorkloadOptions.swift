// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How a workload runs.
public struct WorkloadOptions: Equatable, Sendable {
  /// Decides what there is to do, and how long each operation takes; 7 by default.
  public var seed: UInt64
  /// How many times faster than planned everything goes; above 0, 1 by default.
  public var speed: Double
  /// Whether one round is all; otherwise it goes on until `shutDown()`. `false` by default. What a
  /// round is, ``Demo/round`` says.
  public var isOnce: Bool
  /// Whether somebody is there to act on queues. `true` by default: then ``Demo/tiles`` starts with
  /// its queue `net` suspended, unless `isOnce`.
  public var isInteractive: Bool
  /// The directory for the files of a demo that writes files, created if need be, whose files are
  /// never removed; `nil`, the default, is a temporary one that goes away at the end.
  ///
  /// With `isOnce` the files of ``Demo/tiles`` are in the directory itself, otherwise each pyramid
  /// has a directory of its own in it. A pyramid takes about 15 MB. Other demos ignore it.
  public var outputDirectory: String?

  /// Creates options; each has its default.
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
