// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures the processor time of an operation that is added while everything is idle. Prints it, and exits
// with a failure if it is above 20 µs, and above the limit relative to Dispatch in the same run. A worker
// that searches for too long before it sleeps takes several times as much.
//
// Other processes only add to a value, so the least value of several rounds counts. Takes some seconds.

import Dispatch
import Glibc
import Operations

/// The time of a clock of this process, in nanoseconds.
func time(of clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The processor time that the process uses for one step and the pause after it, in nanoseconds.
func cost(_ step: () -> Void) -> Int {
  let count = 400
  let before = time(of: CLOCK_PROCESS_CPUTIME_ID)
  for _ in 0..<count {
    step()
    usleep(500)
  }
  return (time(of: CLOCK_PROCESS_CPUTIME_ID) - before) / count
}

let queue = OperationQueue()
let dispatchQueue = DispatchQueue.global()
var (pause, operation, block) = (Int.max, Int.max, Int.max)
/// 20 µs, or the same multiple of the time of Dispatch if the machine is slow or busy.
var limit: Int { max(20_000, (block - pause) * 20 / 14) }
for round in 1...15 where round < 5 || operation - pause > limit {
  pause = min(pause, cost {})
  operation = min(operation, cost { queue.addOperation {} })
  block = min(block, cost { dispatchQueue.async {} })
}
print(
  "processor time of an isolated operation: \(operation - pause) ns; at most \(limit) ns; "
    + "of a block of Dispatch: \(block - pause) ns")
exit(operation - pause <= limit ? EXIT_SUCCESS : EXIT_FAILURE)
