// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Workloads

/// How many samples of a benchmark are taken.
struct Effort {
  /// Samples that do not count.
  let warmUps: Int
  /// Samples that count, at most.
  let samples: Int
  /// No sample is begun after so long.
  let duration: Duration

  init(_ workload: Workload, _ size: Int) {
    switch workload.measure {
    case .nanosecondsPerOperation, .nanosecondsToStart:
      // A million take long enough to be warm after the first thousands.
      let isLarge = size >= 1_000_000
      warmUps = isLarge ? 0 : 1
      samples = 10_000
      duration = Self.duration * (isLarge ? 3 : 1)
    case .bytesPerOperation, .milliseconds:
      // The process has to be fresh for the one, and seconds are exact enough for the other.
      warmUps = 0
      samples = 1
      duration = .seconds(600)
    }
  }

  /// A second, or what the environment says.
  private static var duration: Duration {
    guard let text = getenv("OPQ_BENCHMARK_SECONDS"), let seconds = Double(String(cString: text)),
      seconds > 0
    else { return .seconds(1) }
    return .seconds(seconds)
  }
}
