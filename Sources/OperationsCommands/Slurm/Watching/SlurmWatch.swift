// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Calls Slurm's commands for a viewer of jobs that other programs have submitted. The calls are `squeue`, `scancel`,
/// `scontrol`, and `tail` for the output of a job.
///
/// All functions can be called on any thread. A call that gets no answer fails after 30 seconds.
package struct SlurmWatch: Sendable {
  /// The users whose jobs are shown.
  package enum Users: Hashable, Sendable {
    /// The user who calls the commands.
    case own
    /// Other users, by name. Several names are separated by commas.
    case named(String)
    /// All users.
    case all
  }

  /// The answer of `squeue`.
  package struct Answer: Hashable, Sendable {
    /// The name of the cluster; empty if it is not known.
    package let cluster: String
    /// The jobs, in Slurm's order.
    package let jobs: [WatchedSlurmJob]
  }

  /// A change of jobs.
  package enum Change: Hashable, Sendable {
    /// The jobs are cancelled.
    case cancel
    /// The jobs do not start until they are released.
    case hold
    /// The jobs can start.
    case release
  }

  /// Slurm's answer to the change of a job.
  package enum ChangeResult: Hashable, Sendable {
    /// Slurm has accepted the change. Slurm also accepts the cancellation of a job that has ended.
    case accepted
    /// Slurm has refused the change, with these words.
    case refused(String)
    /// There was no answer. The change may have been made.
    case lost
  }

  private static let limit = Duration.seconds(30)

  private static let gracePeriod = Duration.milliseconds(300)

  /// The calls that change nothing.
  private let calls: SlurmCalls
  private let changes: SlurmCalls

  /// Creates a value. The initializer calls no command.
  ///
  /// - Parameter commandPrefix: The words before each command; see ``SlurmCluster/commandPrefix``.
  package init(commandPrefix: [String]) {
    calls = SlurmCalls(prefix: commandPrefix, limit: Self.limit)
    changes = SlurmCalls(prefix: commandPrefix, limit: Self.limit)
  }

  /// Ends the calls that change nothing, and returns when their processes have ended. If a process does not end by
  /// SIGTERM, this takes about 300 ms. Later calls that change nothing fail, and start no process. A second call does
  /// nothing.
  package func stopReading() async { await calls.stop(gracePeriod: Self.gracePeriod) }

  /// Ends the calls that change jobs, as ``stopReading()`` ends other calls. The results for the jobs of these calls
  /// and of later calls are ``ChangeResult/lost``.
  package func stopChanging() async { await changes.stop(gracePeriod: Self.gracePeriod) }

  /// Lists the jobs of users.
  ///
  /// - Parameters:
  ///   - users: The users.
  ///   - asksCluster: Whether the answer includes the name of the cluster.
  /// - Returns: The answer.
  /// - Throws: ``SlurmAccessError`` if the commands cannot be called, or if Slurm refuses the call or does not answer.
  package func jobs(
    of users: Users, asksCluster: Bool
  ) async throws(SlurmAccessError) -> Answer {
    let marker = SlurmCalls.marker()
    let script = SlurmScript.watch(users, asksCluster: asksCluster, marker: marker)
    switch SlurmAnswer.watch(try await run(script), marker: marker) {
    case .success(let answer): return answer
    case .failure(let failure): throw SlurmAccessError(description: failure.reason)
    }
  }

  /// Changes jobs in the order of `ids`. Several calls of Slurm's commands may be necessary. If there is no answer to a
  /// call, the jobs of later calls are not changed, and their results are also ``ChangeResult/lost``.
  ///
  /// - Parameters:
  ///   - ids: The ids of the jobs; see ``WatchedSlurmJob/commandID``.
  ///   - change: The change.
  /// - Returns: The result for each job, in the order of the ids.
  package func change(_ ids: [String], _ change: Change) async -> [ChangeResult] {
    var results: [ChangeResult] = []
    for start in stride(from: 0, to: ids.count, by: SlurmScript.mostChanges) {
      let part = Array(ids[start..<min(ids.count, start + SlurmScript.mostChanges)])
      let marker = SlurmCalls.marker()
      let output = try? await changes.run(SlurmScript.change(part, change, marker: marker))
      let answers = output.flatMap {
        SlurmAnswer.change($0, count: part.count, marker: marker)
      }
      guard let answers else { break }
      results += answers
    }
    return results + Array(repeating: .lost, count: ids.count - results.count)
  }

  /// Reads the end of the output file of a job.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - position: The number of bytes at the beginning of the file that the caller does not need.
  /// - Returns: The part of the file.
  /// - Throws: ``SlurmAccessError`` if the commands cannot be called, or if there is no answer.
  package func output(
    _ file: SlurmOutputPart.File, from position: Int64
  ) async throws(SlurmAccessError) -> SlurmOutputPart {
    let marker = SlurmCalls.marker()
    let output = try await run(SlurmScript.output(file, from: position, marker: marker))
    guard let part = SlurmAnswer.output(output, marker: marker) else {
      throw SlurmAccessError(description: "the answer of Slurm was lost")
    }
    return part
  }

  private func run(_ script: String) async throws(SlurmAccessError) -> [UInt8] {
    do throws(SlurmCallFailure) {
      return try await calls.run(script)
    } catch {
      throw SlurmAccessError(description: error.reason)
    }
  }
}
