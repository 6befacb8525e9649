// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles
package import OperationsCommands

extension Resumption {
  /// Finds out what has become of the attempts without an end in the journal, and decides about all jobs.
  ///
  /// - Parameters:
  ///   - plan: The plan, which can differ from the plan of the earlier runners.
  ///   - directory: The directory of the run. The caller has its lock.
  ///   - history: What the journal says. It does not contain a record of this process.
  ///   - retrying: The ids of the jobs that a user retries; `nil` if there is no retry.
  ///   - boot: The boot id of the machine.
  ///   - patience: The time in which all shims that have just started must have written their identities.
  /// - Returns: The decisions.
  /// - Throws: ``RunFailure`` if the run belongs to another user, or if one of the retried jobs must not run again. In
  ///   the second case, its ``RunFailure/refusals`` are those of all these jobs, in their order.
  package static func load(
    _ plan: JobPlan, directory: RunDirectory, history: RunHistory, retrying: [String]? = nil,
    boot: String = ThisMachine.bootID, patience: Duration = .seconds(5)
  ) async throws(RunFailure) -> Resumption {
    if let failure = directory.continuationFailure { throw failure }
    let findings = await history.findings(in: directory, boot: boot, patience: patience)
    return try Resumption(
      plan, directory: directory, history: history, findings: findings, retrying: retrying)
  }
}

extension RunHistory {
  /// Finds out what has become of the attempts without an end in the journal.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - boot: The boot id of the machine.
  ///   - patience: The time in which all shims that have just started must have written their identities.
  /// - Returns: The findings by the ids of the jobs.
  package func findings(
    in directory: RunDirectory, boot: String = ThisMachine.bootID,
    patience: Duration = .seconds(5)
  ) async -> [String: ShimFinding] {
    let deadline = ContinuousClock.now + patience
    return await withTaskGroup(of: (String, ShimFinding).self) { group in
      for (id, job) in jobs {
        // The operation that awaits a submission asks Slurm for its state.
        guard let start = job.openStart, start.submission == nil else { continue }
        let files = directory.files(named: start.files)
        // Two unknown boot ids can be those of two boots, but then the lock decides.
        let agrees = start.boot == boot
        group.addTask {
          let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
          return (id, await files.find(bootIDAgrees: agrees, patience: rest))
        }
      }
      var findings: [String: ShimFinding] = [:]
      for await (id, finding) in group { findings[id] = finding }
      return findings
    }
  }
}
