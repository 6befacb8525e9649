// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Workloads

/// How many samples of a benchmark are taken.
struct Effort {
  /// At most so many.
  let samples: Int
  /// No sample is begun after so long.
  let duration: Duration

  init(_ workload: Workload, _ size: Int) {
    switch workload.measure {
    case .nanosecondsPerOperation:
      samples = 10_000
      duration = Self.duration * (size >= 1_000_000 ? 3 : 1)
    case .nanosecondsToStart:
      // Each is as many values as its size.
      samples = 10
      duration = Self.duration
    case .bytesPerOperation, .milliseconds:
      // The process has to be fresh for the one, and seconds are exact enough for the other.
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
