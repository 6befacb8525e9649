// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCore

extension JobRun {
  /// Returns the index of the job with an id; `nil` if there is no such job. The time may depend on the number of jobs.
  package func index(ofJob id: String) -> Int? {
    index(ofOrigin: id) ?? plan.jobs.firstIndex { $0.id == id }
  }

  /// Returns the number of attempts of a job that have started.
  ///
  /// - Parameter index: The index of the job in the plan.
  /// - Returns: The number, which is 0 before the job has started.
  package func attemptCount(of index: Int) -> Int {
    state.withLock { state in
      guard state.jobs.indices.contains(index) else { return 0 }
      return state.jobs[index]?.attemptCount ?? state.outcomes[index]?.attemptCount ?? 0
    }
  }

  /// Returns the path of the file for the output of an attempt of a job.
  ///
  /// - Parameters:
  ///   - index: The index of the job in the plan.
  ///   - attempt: The number of the attempt; the first one is 1.
  /// - Returns: The path. The file may not exist.
  package func outputFile(of index: Int, attempt: Int) -> String {
    logs.file(of: plan.jobs[index], at: index, attempt: attempt)
  }
}
