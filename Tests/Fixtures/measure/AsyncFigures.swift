// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Measures the time and the memory of asynchronous operations. The program prints the smallest time of several
/// rounds.
///
///     fixture-measure async [ROUNDS]
enum AsyncFigures {
  /// Returns the time of operations that run in a queue, from the first addition to the last finish.
  private static func duration(
    width: Int, count: Int, _ work: @escaping @Sendable () async throws -> Void
  ) async -> Duration {
    let queue = OperationQueue(name: "measured", maxConcurrentOperationCount: width)
    return await ContinuousClock().measure {
      for _ in 0..<count { queue.addAsyncOperation(name: nil, work) }
      await queue.waitUntilAllOperationsAreFinished()
    }
  }

  private static func shortest(rounds: Int, _ time: () async -> Duration) async -> Duration {
    var shortest = await time()
    for _ in 1..<max(1, rounds) { shortest = await min(shortest, time()) }
    return shortest
  }

  private static func printTime(
    _ name: String, width: Int, rounds: Int, _ work: @escaping @Sendable () async throws -> Void
  ) async {
    let count = 200_000
    let time = await shortest(rounds: rounds) { await duration(width: width, count: count, work) }
    let widthText = width < 0 ? "default width" : "width \(width)"
    print("\(name), \(widthText): \(Int(time / .nanoseconds(count))) ns each")
  }

  /// Returns the bytes by which the memory of the process grows for each operation that runs in `queue`, after
  /// `settle` was called.
  private static func bytes(
    in queue: OperationQueue, count: Int, settle: () async -> Void
  ) async -> Int {
    let before = ProcessStatus.amount("VmRSS")
    for _ in 0..<count {
      queue.addAsyncOperation(name: nil) { try await Task.sleep(for: .seconds(3_600)) }
    }
    await settle()
    return (ProcessStatus.amount("VmRSS") - before) * 1_024 / count
  }

  private static func printMemory() async {
    let waiting = OperationQueue(name: "waiting", maxConcurrentOperationCount: 0)
    let waitingBytes = await bytes(in: waiting, count: 100_000) {}
    let executing = OperationQueue(name: "executing", maxConcurrentOperationCount: 100_000)
    let executingBytes = await bytes(in: executing, count: 100_000) {
      guard
        poll(
          for: .seconds(60), pausing: true,
          until: { executing.snapshot().counts.executing == 100_000 })
      else { fatalError("not all operations execute") }
    }
    print("memory: \(waitingBytes) bytes waiting, \(executingBytes) bytes executing in Task.sleep")
    for queue in [waiting, executing] {
      queue.cancelAllAndResume()
      await queue.waitUntilAllOperationsAreFinished()
    }
  }

  static func run(_ arguments: [String]) async {
    let rounds = arguments.first.flatMap { Int($0) } ?? 7
    await printMemory()
    let defaultWidth = OperationQueue.defaultMaxConcurrentOperationCount
    for width in [defaultWidth, 2] {
      await printTime("empty", width: width, rounds: rounds) {}
      await printTime("one Task.yield()", width: width, rounds: rounds) { await Task.yield() }
    }
    for (width, count) in [(2, 4), (4, 8), (64, 128)] {
      let time = await shortest(rounds: 2) {
        await duration(width: width, count: count) { usleep(100_000) }
      }
      let milliseconds = Int(time / .milliseconds(1))
      print("\(count) functions that block for 100 ms, width \(width): \(milliseconds) ms")
    }
  }
}
