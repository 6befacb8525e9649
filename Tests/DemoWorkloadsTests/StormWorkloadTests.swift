// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import DemoWorkloads

@Suite(.timeLimit(.minutes(10)), .oneAtATime) struct StormWorkloadTests {
  private func workload(
    isOnce: Bool = false, speed: Double = 1, blockLimit: Int = 20
  ) -> StormWorkload {
    StormWorkload(
      seed: 7, isOnce: isOnce, pacing: Pacing(speed: speed), blockLimit: blockLimit)
  }

  private func unfinishedCount(_ workload: StormWorkload) -> Int {
    workload.queues.reduce(0) { $0 + $1.operationCount }
  }

  @Test func theStormIsFilledToItsSize() async throws {
    // The demo runs so slowly that almost no operation ends during the test.
    let workload = workload(speed: 0.000_01)
    workload.start()
    // The demo `storm` has 20,000 operations. A few of them finish at the beginning, before the
    // other operations wait.
    #expect(await eventually { unfinishedCount(workload) >= 19_900 })
    let counts = workload.queues.map(\.operationCount)
    #expect(counts.allSatisfy { $0 > 4_900 && $0 <= 5_000 }, "\(counts)")
    try await onOwnThread { workload.shutDown() }
  }

  @Test func finishedOperationsAreReplaced() async throws {
    let workload = workload(speed: 10)
    workload.start()
    let isReplaced = await eventually {
      workload.queues.contains { queue in
        queue.operations.contains { operation in
          guard let number = operation.name?.split(separator: " ").last.flatMap({ Int($0) })
          else { return false }
          return number > 30_000
        }
      }
    }
    #expect(isReplaced)
    #expect(unfinishedCount(workload) <= 20_000)
    try await onOwnThread { workload.shutDown() }
  }

  @Test func aOnceRunFinishesAndIsEmpty() async throws {
    let workload = workload(isOnce: true, speed: 100)
    workload.start()
    await withCheckedContinuation { continuation in
      workload.whenFinished { continuation.resume() }
    }
    #expect(unfinishedCount(workload) == 0)
    workload.shutDown()
  }

  @Test func shuttingDownReleasesEverything() async throws {
    let workload = workload(speed: 0.000_01, blockLimit: 50)
    workload.start()
    #expect(await eventually { unfinishedCount(workload) >= 49_000 })
    weak let last = workload.queues[3].operations.last
    #expect(last != nil)
    try await onOwnThread { workload.shutDown() }
    #expect(await eventually { unfinishedCount(workload) == 0 && last == nil })
  }

  @Test func shuttingDownWhileItIsFilledEndsTheFilling() async throws {
    let workload = workload(speed: 0.000_01, blockLimit: 1_000)
    workload.start()
    try await onOwnThread { workload.shutDown() }
    #expect(await eventually { unfinishedCount(workload) == 0 })
  }
}
