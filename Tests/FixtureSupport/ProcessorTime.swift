// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Keeps the processor busy until the calling thread has used a certain amount of processor time.
package func useProcessor(for duration: Duration) {
  let end = threadProcessorTime() + duration
  while threadProcessorTime() < end {}
}

/// Returns the processor time of the calling thread.
package func threadProcessorTime() -> Duration { time(of: CLOCK_THREAD_CPUTIME_ID) }

/// Returns the processor time of this process.
package func processProcessorTime() -> Duration { time(of: CLOCK_PROCESS_CPUTIME_ID) }

/// Returns the processor time of a process; `nil` if the process does not exist.
package func processorTime(of process: Int32) -> Duration? {
  var clock = clockid_t()
  guard clock_getcpuclockid(process, &clock) == 0 else { return nil }
  return time(of: clock)
}

private func time(of clock: clockid_t) -> Duration {
  var time = timespec()
  clock_gettime(clock, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
