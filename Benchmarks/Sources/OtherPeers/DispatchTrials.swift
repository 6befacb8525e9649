// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
public import Workloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The workloads that a dispatch queue can run.
public enum DispatchTrials {
  /// All trials of this enumeration. A trial is the implementation of one workload by one library.
  public static var all: [Trial] {
    [
      flat, producers(.flatFrom2, count: 2), producers(.flatFrom8, count: 8), fill, barriers, chain,
      tree, pingPong, start(.startIdle, pause: .microseconds(200)), start(.startBusy, pause: .zero),
      memory, sleepersDefault,
    ]
  }

  private static let flat = Trial(
    .flat, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let group = DispatchGroup()
        for _ in 0..<size { queue.async(group: group) {} }
        group.wait()
      }
    })

  private static func producers(_ workload: Workload, count: Int) -> Trial {
    Trial(
      workload, by: .dispatch,
      .timed { size in
        let queue = makeQueue()
        let team = ProducerTeam(count: count)
        return {
          let group = DispatchGroup()
          team.run { for _ in 0..<size / count { queue.async(group: group) {} } }
          group.wait()
        }
      })
  }

  private static let fill = Trial(
    .fill, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      queue.suspend()
      return {
        let group = DispatchGroup()
        for _ in 0..<size { queue.async(group: group) {} }
        queue.resume()
        group.wait()
      }
    })

  private static let barriers = Trial(
    .barriers, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let group = DispatchGroup()
        for index in 1...size {
          if index.isMultiple(of: 1_000) {
            queue.async(group: group, flags: .barrier) {}
          } else {
            queue.async(group: group) {}
          }
        }
        group.wait()
      }
    })

  private static let chain = Trial(
    .chain, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return { runInTurns(size, on: queue, queue) }
    })

  private static let pingPong = Trial(
    .pingPong, by: .dispatch,
    .timed { size in
      let queues = (makeQueue(), makeQueue())
      return { runInTurns(size, on: queues.0, queues.1) }
    })

  private static func runInTurns(_ size: Int, on first: DispatchQueue, _ second: DispatchQueue) {
    let end = DispatchSemaphore(value: 0)
    @Sendable func step(_ remaining: Int) {
      if remaining == 1 {
        end.signal()
      } else {
        (remaining.isMultiple(of: 2) ? first : second).async { step(remaining - 1) }
      }
    }
    second.async { step(size) }
    end.wait()
  }

  private static let tree = Trial(
    .tree, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let group = DispatchGroup()
        @Sendable func visit(_ index: Int) {
          for child in [2 * index + 1, 2 * index + 2] where child < size {
            queue.async(group: group) { visit(child) }
          }
        }
        queue.async(group: group) { visit(0) }
        group.wait()
      }
    })

  private static func start(_ workload: Workload, pause: Duration) -> Trial {
    Trial(
      workload, by: .dispatch,
      .values { size in
        let queue = makeQueue()
        return StartProbe.measure(count: size, pause: pause) { queue.async(execute: $0) }
      })
  }

  private static let memory = Trial(
    .memory, by: .dispatch,
    .values { size in
      let queue = makeQueue()
      let group = DispatchGroup()
      queue.suspend()
      Forever.keep(queue)
      Forever.keep(group)
      return [
        ResidentMemory.growth(size: size) {
          for _ in 0..<size { queue.async(group: group) {} }
        }
      ]
    })

  private static let sleepersDefault = Trial(
    .sleepersDefault, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let group = DispatchGroup()
        for _ in 0..<size { queue.async(group: group) { usleep(1_000_000) } }
        group.wait()
      }
    })

  private static func makeQueue() -> DispatchQueue {
    DispatchQueue(label: "benchmark", attributes: .concurrent)
  }
}
