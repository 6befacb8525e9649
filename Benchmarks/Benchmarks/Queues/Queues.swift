// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Benchmark
import Glibc

/// The main program, which `swift package benchmark` starts. It runs one benchmark.
@main
enum Queues {
  /// Runs the workloads on the main thread. This replaces the `main` that the plugin of the
  /// benchmark library generates. That `main` uses a thread of the concurrency runtime's pool,
  /// which contenders that work in this pool (Dispatch and libraries that use it) then lack: with
  /// two cores it is half of the pool.
  static func main() {
    let executor = ThisThreadExecutor()
    Task(executorPreference: executor) {
      await BenchmarkRunner.setupBenchmarkRunner { Registration.registerAll() }
      exit(EXIT_SUCCESS)
    }
    executor.run()
  }
}
