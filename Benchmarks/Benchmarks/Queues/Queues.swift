// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Benchmark
import Glibc

/// Runs the benchmark that `swift package benchmark` asks for.
@main
enum Queues {
  /// Not the `main` that the benchmark library's plugin writes: that one runs the workloads on a
  /// thread of the concurrency runtime's pool and so takes it from contenders that work in that pool
  /// (Dispatch and whatever is built on it), half of it where there are two cores. Here they run on
  /// the main thread.
  static func main() {
    let executor = ThisThreadExecutor()
    Task(executorPreference: executor) {
      await BenchmarkRunner.setupBenchmarkRunner { Registration.registerAll() }
      exit(EXIT_SUCCESS)
    }
    executor.run()
  }
}
