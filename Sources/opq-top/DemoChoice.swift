// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import DemoWorkloads

/// Which demo is run, and how; by default the first one as it is meant.
struct DemoChoice: Equatable {
  var demo = Demo.tiles
  /// Decides what it does.
  var seed: UInt64 = 7
  /// How many times faster than usual it goes.
  var speed = 1.0
  /// Whether it ends when one round is done.
  var isOnce = false
  /// Where its files are kept; `nil` where they are not.
  var output: String?

  /// The same for the workload.
  func options(isInteractive: Bool) -> WorkloadOptions {
    WorkloadOptions(
      seed: seed, speed: speed, isOnce: isOnce, isInteractive: isInteractive && !isOnce,
      outputDirectory: output)
  }
}
