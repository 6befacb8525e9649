// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCommands

/// The Slurm cluster on which the commands of a run execute.
///
/// Its text is `slurm` if Slurm's commands are called on this machine. If they are called through ssh, its text is
/// `slurm:LOGIN` or `slurm:LOGIN:DIRECTORY`.
package struct RunCluster: Hashable, Sendable {
  /// The time between two calls of `squeue` if the user selects no other time.
  package static let usualPollInterval = Duration.seconds(10)

  /// The machine that ssh connects to; `nil` if Slurm's commands are called on this machine.
  package let login: String?
  /// The directory on the cluster in which commands run, and whose folder `.opq` contains their files. A relative path
  /// begins in the home directory. `nil` if Slurm's commands are called on this machine: then the commands run in the
  /// working directory of the run, and the directory of the run contains their files.
  package private(set) var directory: String?
  /// The time between two calls of `squeue`, at least 1 second.
  package var pollInterval = RunCluster.usualPollInterval

  /// Creates a place from its text; `nil` if the text is not a place.
  ///
  /// - Parameter text: The text.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts[0] == "slurm" else { return nil }
    login = parts.count > 1 ? String(parts[1]) : nil
    directory = parts.count > 2 ? String(parts[2]) : nil
    // The program ssh would read a name with a hyphen as an option.
    if let login, login.isEmpty || login.hasPrefix("-") { return nil }
    if directory?.isEmpty == true { return nil }
    if text.utf8.contains(0) { return nil }
    if login != nil, directory == nil { directory = "." }
  }

  /// The place as text.
  package var text: String {
    (["slurm"] + [login, directory].compactMap(\.self)).joined(separator: ":")
  }

  /// The place as one sentence without a full stop. The text is unsanitised.
  package var sentence: String {
    guard let login else { return "the commands run on the Slurm cluster of this machine" }
    let place = directory.map { $0 == "." ? "in the home directory" : "in \($0)" } ?? ""
    return "the commands run on the Slurm cluster of \(login), \(place)"
  }

  /// The words before each command of Slurm.
  private var prefix: [String] {
    // While a run continues, a busy login node gets more time to answer than at the start of the run.
    prefix(["-oBatchMode=yes", "-oConnectTimeout=60"])
  }

  private func prefix(_ options: [String]) -> [String] {
    login.map { ["ssh"] + options + [$0] } ?? []
  }

  /// Checks that Slurm's commands can be called, and returns this place with an absolute directory.
  ///
  /// - Returns: The place.
  /// - Throws: ``RunFailure`` if a command is missing or the directory does not exist.
  package func found() async throws(RunFailure) -> RunCluster {
    do throws(SlurmAccessError) {
      // A machine that does not answer would block the start of a run for minutes.
      let prefix = prefix(["-oBatchMode=yes", "-oConnectTimeout=15"])
      let path = try await SlurmCluster.find(directory ?? "/", commandPrefix: prefix)
      var place = self
      if directory != nil { place.directory = path }
      return place
    } catch {
      throw RunFailure("\(error)")
    }
  }

  /// Returns the client for the cluster.
  ///
  /// - Parameter run: The directory of the run.
  /// - Returns: The client. Creating it calls no command.
  func client(for run: RunDirectory) -> SlurmCluster {
    SlurmCluster(
      directory: folder(of: run), commandPrefix: prefix, sharesFiles: login == nil,
      pollInterval: pollInterval)
  }

  /// Returns the files of an attempt on the cluster.
  ///
  /// - Parameters:
  ///   - name: The name of the files, such as `1-fetch.1`.
  ///   - run: The directory of the run.
  /// - Returns: The files.
  func files(named name: String, of run: RunDirectory) -> SlurmFiles {
    SlurmFiles(base: "\(folder(of: run))/\(name)")
  }

  /// The folder of the files of all attempts, on the cluster.
  private func folder(of run: RunDirectory) -> String {
    directory.map { "\($0)/.opq/runs/\(run.id)/jobs" } ?? run.jobs
  }
}
