// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures the processor time of an operation that is added while all threads are idle. The program
// prints this time. It exits with a failure if the time is above 20 µs and also above a limit
// relative to Dispatch's time in the same run. A worker that searches for work for too long before
// it sleeps exceeds these limits several times.
//
// Other processes can only increase a measured time. Therefore the program uses the smallest time
// of several rounds. It takes some seconds.

import Dispatch
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Returns the present time of a clock in nanoseconds.
func time(of clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Returns the processor time, in nanoseconds, that the process uses on average for one call of
/// `step` and the pause after the call.
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
/// The maximum processor time of one operation, in nanoseconds: 20 µs, or a multiple of the time of
/// one block of Dispatch if the machine is slow or busy.
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
