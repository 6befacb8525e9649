// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures how long queues take for scientific workflows whose tasks sleep, and compares the times with those of a
// simulated greedy list scheduler of the same width. The program prints a table, and exits with a failure if the
// median ratio of a workflow is above its limit.
//
//   makespan [ROUNDS [TASKS]]
//
// The simulation uses the time from the start of each body to its end in the same run, and not the time for which
// the body was to sleep. A timer that wakes a body late makes both times longer, so it does not count as a cost of
// the queue.

import Comparison
import Operations
import Workloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Runs a workflow in a queue. Returns the time from the moment when the queue is resumed until all operations have
/// finished, and the time that each body took.
func run(_ links: Links, sleeps: [Duration], width: Int) throws -> (
  makespan: Duration, durations: [Duration]
) {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = width
  queue.isSuspended = true
  let operations = sleeps.map { sleep in
    AsyncOperation<Duration> {
      let start = ContinuousClock.now
      try await Task.sleep(for: sleep, tolerance: .zero)
      return start.duration(to: .now)
    }
  }
  for edge in links.edges { operations[edge.after].addDependency(operations[edge.before]) }
  for operation in operations { queue.addOperation(operation) }
  let makespan = ContinuousClock().measure {
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }
  return (makespan, try operations.compactMap { try $0.result?.get() })
}

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let rounds = max(1, arguments.first ?? 5)
let size = arguments.count > 1 ? max(80, arguments[1]) : 1_000
let workflows: [(workload: Workload, workflow: Workflow)] = [
  (.montage, .montage(size)), (.epigenomics, .epigenomics(size)), (.blast, .blast(size)),
  (.thousandGenomes, .thousandGenomes(size)),
]
var check = MakespanCheck()
for round in 1...rounds {
  for (workload, workflow) in workflows {
    let links = workflow.links
    let sleeps = workflow.sleeps(seed: UInt64(round))
    for width in [4, 16, 64] {
      let result = try run(links, sleeps: sleeps, width: width)
      let simulated = ListSchedule.makespan(links, durations: result.durations, width: width)
      check.add(
        workload.rawValue, width: width, simulated: simulated, measured: result.makespan)
    }
  }
}
print(
  "Workflows of \(size) tasks, rounds: \(rounds). The ratio may be at most \(MakespanCheck.limit).\n"
)
print(check.text, terminator: "")
exit(check.passes ? EXIT_SUCCESS : EXIT_FAILURE)
