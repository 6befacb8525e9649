// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The limits for the samples of a benchmark.
struct Effort {
  /// The largest number of samples of a benchmark.
  let samples: Int
  /// The time limit of a benchmark: after this time, no further sample is started.
  let duration: Duration

  init(_ workload: Workload, _ size: Int) {
    switch workload.measure {
    case .nanosecondsPerOperation:
      samples = 10_000
      duration = Self.duration * (size >= 1_000_000 ? 3 : 1)
    case .nanosecondsToStart:
      // A sample of this measure has one value for each operation, so ten samples are enough.
      samples = 10
      duration = Self.duration
    case .bytesPerOperation, .milliseconds:
      // A benchmark of memory or of the total time takes only one sample. A measurement of memory
      // needs a new process for each sample, and a time of some seconds is exact enough with one
      // sample.
      samples = 1
      duration = .seconds(600)
    }
  }

  /// The usual time limit of a benchmark: the number of seconds in the environment variable
  /// `OPQ_BENCHMARK_SECONDS`, or one second without the variable.
  private static var duration: Duration {
    guard let text = getenv("OPQ_BENCHMARK_SECONDS"), let seconds = Double(String(cString: text)),
      seconds > 0
    else { return .seconds(1) }
    return .seconds(seconds)
  }
}
