// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// How planned times become real ones.
struct Pacing: Equatable, Sendable {
  /// How many times faster than planned everything goes; above 0.
  let speed: Double

  /// The real time of what is planned to take this long at speed 1; about eleven days at most.
  func time(for planned: Duration) -> Duration {
    let seconds =
      Double(planned.components.seconds) + Double(planned.components.attoseconds) / 1e18
    return .milliseconds(min(seconds * 1000 / speed, 1e9))
  }
}

extension WorkloadOptions {
  /// The pace that was asked for.
  ///
  /// - Throws: When the speed is not a finite number above 0.
  func pacing() throws(WorkloadError) -> Pacing {
    guard speed > 0, speed.isFinite else { throw WorkloadError(code: .invalidSpeed(speed)) }
    return Pacing(speed: speed)
  }
}

/// Stretches the work of one operation to its planned time.
///
/// The work is real but short: tiles take milliseconds, and a person could not watch it. So a
/// demo operation does a part, waits until that part's share of its time is over, and does the
/// next. What takes longer than planned never waits.
struct Pacer: Sendable {
  private let start = ContinuousClock.now
  private let duration: Duration

  /// Begins to measure now.
  init(duration: Duration) { self.duration = duration }

  /// Blocks the thread until a share of the time is over, or `isCancelled` returns `true`.
  ///
  /// A share is from 0 (at once) to 1 (the whole time). Looks for cancellation every 20 ms.
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
