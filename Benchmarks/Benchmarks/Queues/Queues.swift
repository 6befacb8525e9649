// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Benchmark

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The main program, which `swift package benchmark` starts. It runs one benchmark.
@main
enum Queues {
  /// Runs the workloads on the main thread. This function replaces the `main` that the plugin of
  /// the benchmark library generates. The generated `main` would occupy a thread of the concurrency
  /// runtime's pool. Some of the compared libraries also work in this pool and would have one
  /// thread less. On a machine with two cores, that is half of the pool.
  static func main() {
    let executor = ThisThreadExecutor()
    Task(executorPreference: executor) {
      await BenchmarkRunner.setupBenchmarkRunner { Registration.registerAll() }
      exit(EXIT_SUCCESS)
    }
    executor.run()
  }
}
