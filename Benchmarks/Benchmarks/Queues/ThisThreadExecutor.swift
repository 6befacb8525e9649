// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

/// Runs tasks on the thread that calls `run()`.
final class ThisThreadExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let added = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    added.signal()
  }

  /// Runs enqueued jobs in order, and never returns.
  func run() -> Never {
    while true {
      added.wait()
      let job = jobs.withLock { $0.removeFirst() }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
