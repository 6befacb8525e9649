// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The sampler")
struct SamplerTests {
  @Test("100 sleepers at rest take under 1 % of a processor, and under 20 wake-ups a second")
  func restInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let gate = Gate()
        let queue = OperationQueue()
        for _ in 0..<100 { queue.addOperation { gate.pass() } }
        gate.waitForArrivals(100)
        // During this sleep, the sampler (the thread that checks for blocked workers) reduces the
        // frequency of its checks.
        usleep(200_000)
        let switchesBefore = PoolThread.all.compactMap(\.switchCount).reduce(0, +)
        let before = processProcessorTime()
        // The test measures the sampler (the thread that checks for blocked workers) during this
        // sleep of four seconds.
        sleep(4)
        let used = processProcessorTime() - before
        let switches = PoolThread.all.compactMap(\.switchCount).reduce(0, +) - switchesBefore
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        print(
          "100 sleepers at rest: \(used / .seconds(4) * 100) %, \(switches) wake-ups in 4 s")
        precondition(used < .milliseconds(40), "\(used)")
        // A wake-up of a thread and the following sleep count as one context switch.
        precondition(switches < 4 * 20, "\(switches)")
      }
    }
  }

  @Test("MX-5: blocked workers are replaced even if no descriptor is free")
  func withoutDescriptorsInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      // This sleep makes Dispatch open the file descriptors for its timers. Without free
      // descriptors, Dispatch would end the process at the first timer, and the time limit of
      // `onOwnThread` needs a timer.
      try await Task.sleep(for: .milliseconds(1))
      try await onOwnThread(within: .seconds(60)) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 3
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        precondition(open("/proc/self/stat", O_RDONLY) < 0)
        let gate = Gate()
        let queue = OperationQueue()
        for _ in 0..<16 { queue.addOperation { gate.pass() } }
        precondition(gate.waitForArrivals(16))
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("MX-6: operations that poll count as blocked, so that the one they wait for starts")
  func pollers() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let isSet = Flag()
      let queue = OperationQueue()
      for _ in 0..<16 {
        queue.addOperation { while !isSet.isRaised { usleep(100) } }
      }
      queue.addOperation { isSet.raise() }
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}
