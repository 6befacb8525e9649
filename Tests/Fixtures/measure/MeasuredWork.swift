// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The work whose duration is measured, for example with and without a viewer.
enum MeasuredWork {
  /// Runs a number of empty operations. The calling thread adds them, a million at a time.
  static func runEmpty(_ count: Int) {
    let queue = OperationQueue()
    for start in stride(from: 0, to: count, by: 1_000_000) {
      for _ in start..<min(count, start + 1_000_000) { queue.addOperation {} }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// Runs `count` operations on all processors except one. Each operation computes `steps` steps.
  static func runComputing(_ count: Int, steps: Int) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)
    for _ in 0..<count {
      queue.addOperation { if compute(steps) == 0 { print("") } }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Computes a number of steps, as the work of an operation.
  @inline(never)
  static func compute(_ steps: Int) -> UInt64 {
    var value: UInt64 = 1
    for _ in 0..<steps { value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
    return value
  }

  /// Waits until the memory of the process has not grown for a certain time, which means that the
  /// collector has read all operations. Returns the memory in KiB.
  static func settledMemory(quietFor patience: Duration) -> Int {
    var last = 0
    var quiet = ContinuousClock.now
    while ContinuousClock.now - quiet < patience {
      let now = ProcessStatus.amount("VmRSS")
      if now > last + 64 { (last, quiet) = (now, .now) }
      usleep(20_000)
    }
    return last
  }
}
