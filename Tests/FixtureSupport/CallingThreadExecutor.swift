// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An executor that runs each job on the thread that enqueues it.
package final class CallingThreadExecutor: TaskExecutor {
  /// Creates an executor.
  package init() {}

  /// Runs the job before the method returns.
  package func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
