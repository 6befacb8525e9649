// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// Converts planned times to real times.
struct Pacing: Equatable, Sendable {
  /// How many times faster than planned the workload runs; above 0.
  let speed: Double

  /// Returns the real time for a planned time at speed 1; at most about eleven days.
  func time(for planned: Duration) -> Duration {
    let seconds =
      Double(planned.components.seconds) + Double(planned.components.attoseconds) / 1e18
    return .milliseconds(min(seconds * 1000 / speed, 1e9))
  }
}

extension WorkloadOptions {
  /// Returns the pace for the requested speed.
  ///
  /// - Throws: `WorkloadError` if the speed is not a finite number above 0.
  func pacing() throws(WorkloadError) -> Pacing {
    guard speed > 0, speed.isFinite else { throw WorkloadError(code: .invalidSpeed(speed)) }
    return Pacing(speed: speed)
  }
}

/// Extends the work of one operation to its planned time.
///
/// The work is real but short: tiles take milliseconds, which is too short to watch. So a demo operation does
/// a part, waits until that part's share of its time has passed, and does the next. An operation that takes
/// longer than planned never waits.
struct Pacer: Sendable {
  private let start = ContinuousClock.now
  private let duration: Duration

  /// Starts the measurement now.
  init(duration: Duration) { self.duration = duration }

  /// Blocks the thread until a share of the time has passed, or `isCancelled` returns `true`.
  ///
  /// A share is from 0 (at once) to 1 (the whole time). It checks for cancellation every 20 ms.
  func wait(forShare share: Double, unless isCancelled: () -> Bool) {
    let end = start + duration * share
    while !isCancelled() {
      let rest = end - ContinuousClock.now
      guard rest > .zero else { return }
      let nanoseconds = min(rest, .milliseconds(20)).components.attoseconds / 1_000_000_000
      var pause = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
      nanosleep(&pause, nil)
    }
  }
}

extension Duration {
  /// The same time in whole nanoseconds, rounded towards zero; up to about 290 years.
  var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
