// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

#if FOUNDATION
  import Foundation
#else
  import Operations
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Workloads whose result is not a time per operation.
extension SharedTrials {
  static var figureTrials: [Trial] {
    [
      start(.startIdle, pause: .microseconds(200)), start(.startBusy, pause: .zero),
      memory, memoryChain, sleepersWide, sleepersDefault,
    ]
  }

  private static func start(_ workload: Workload, pause: Duration) -> Trial {
    Trial(
      workload, by: .here,
      .values { size in
        let queue = OperationQueue()
        defer { queue.waitUntilAllOperationsAreFinished() }
        return StartProbe.measure(count: size, pause: pause) { queue.addOperation($0) }
      })
  }

  private static let memory = Trial(
    .memory, by: .here,
    .values { size in
      let queue = OperationQueue()
      queue.isSuspended = true
      Forever.keep(queue)
      return [
        ResidentMemory.growth(size: size) {
          for _ in 0..<size { queue.addOperation {} }
        }
      ]
    })

  private static let memoryChain = Trial(
    .memoryChain, by: .here, upTo: Limits.links,
    .values { size in
      let queue = OperationQueue()
      queue.isSuspended = true
      Forever.keep(queue)
      let links = Workload.memoryChain.links(size)
      return [
        ResidentMemory.growth(size: size) {
          for operation in makeOperations(links) { queue.addOperation(operation) }
        }
      ]
    })

  private static let sleepersWide = Trial(
    .sleepersWide, by: .here, upTo: Limits.sleepers,
    .timed { size in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = size
      return { sleep(size, on: queue) }
    })

  private static let sleepersDefault = Trial(
    .sleepersDefault, by: .here,
    .timed { size in
      let queue = OperationQueue()
      return { sleep(size, on: queue) }
    })

  private static func sleep(_ size: Int, on queue: OperationQueue) {
    for _ in 0..<size { queue.addOperation { usleep(1_000_000) } }
    queue.waitUntilAllOperationsAreFinished()
  }
}
