// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// Converts planned durations to real durations.
struct Pacing: Equatable, Sendable {
  /// How many times faster than planned the workload runs; above 0.
  let speed: Double

  /// Returns the real duration for a duration that is planned for normal speed. The result is at most about
  /// eleven days.
  func time(for planned: Duration) -> Duration {
    let seconds =
      Double(planned.components.seconds) + Double(planned.components.attoseconds) / 1e18
    return .milliseconds(min(seconds * 1000 / speed, 1e9))
  }
}

extension WorkloadOptions {
  /// Returns the pacing for the requested speed.
  ///
  /// - Throws: `WorkloadError` if the speed is not a finite number above 0.
  func pacing() throws(WorkloadError) -> Pacing {
    guard speed > 0, speed.isFinite else { throw WorkloadError(code: .invalidSpeed(speed)) }
    return Pacing(speed: speed)
  }
}

/// Makes the work of an operation last for its planned time.
///
/// Real work of the demo is too short to be watched: a tile takes milliseconds. Therefore an operation
/// divides its work into parts. After each part, the operation waits until the same fraction of its planned
/// time has passed, and then continues with the next part. If the work takes longer than planned, the
/// operation does not wait.
struct Pacer: Sendable {
  private let start = ContinuousClock.now
  private let duration: Duration

  /// Creates a pacer that starts to measure the time now.
  init(duration: Duration) { self.duration = duration }

  /// Blocks the thread until a fraction of the planned time has passed or `isCancelled` returns `true`.
  ///
  /// The fraction, `share`, is a number from 0 (the beginning) to 1 (the whole time). The method calls
  /// `isCancelled` every 20 ms.
  func wait(forShare share: Double, unless isCancelled: () -> Bool) {
    let end = start + duration * share
    while !isCancelled() {
      let rest = end - ContinuousClock.now
      guard rest > .zero else { return }
      cmonitor_sleep(min(rest, .milliseconds(20)).nanoseconds)
    }
  }
}

extension Duration {
  /// The duration in whole nanoseconds, rounded towards zero. The maximum is about 290 years.
  var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
