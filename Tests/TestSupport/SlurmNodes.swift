// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A real Slurm cluster for tests: two nodes with two processors each, on this machine.
///
/// The script `Tests/Fixtures/slurm/cluster` starts it. It ends when the object is released, and when this process
/// ends.
package final class SlurmNodes: Sendable {
  /// Whether the packages that a cluster needs are installed: slurmctld, slurmd, slurm-client and munge.
  package static let areInstalled = ["slurmctld", "slurmd", "munged", "sbatch"].allSatisfy { name in
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// Why tests are skipped if ``areInstalled`` is `false`.
  package static let missing: Comment =
    "the packages slurmctld, slurmd, slurm-client and munge are not installed"

  /// The directory of the cluster, which is deleted at the end. Jobs can write to its folder `work`.
  package let directory: TemporaryDirectory

  /// The folder for the files of jobs.
  package var work: String { directory.file("work") }

  /// The words before a command that uses the cluster.
  package var prefix: [String] { ["env", "SLURM_CONF=\(directory.file("etc/slurm.conf"))"] }

  /// Starts a cluster, and returns when it accepts jobs.
  ///
  /// - Parameter lines: Further lines of its configuration, such as `MinJobAge=2`.
  /// - Throws: ``TemporaryDirectory/Failure`` if the directory cannot be created, or ``Failure`` if the cluster does
  ///   not start.
  package init(_ lines: String...) throws {
    directory = try TemporaryDirectory()
    // Other users read the configuration.
    chmod(directory.path, 0o755)
    mkdir(directory.file("work"), 0o777)
    chmod(directory.file("work"), 0o777)
    try call(["start", directory.path, "\(getpid())"] + lines)
  }

  deinit { try? call(["stop", directory.path]) }

  /// An error of the script.
  package struct Failure: Error, CustomStringConvertible {
    /// The output of the script.
    package let description: String
  }

  /// Starts the controller, after it was killed, and returns when it answers.
  ///
  /// - Throws: ``Failure`` if it does not start.
  package func startController() throws { try call(["start-controller", directory.path]) }

  /// Starts a node, after it was killed.
  ///
  /// - Throws: ``Failure`` if it does not start.
  package func startNode(_ node: String) throws { try call(["start-node", directory.path, node]) }

  /// Kills a node with everything that runs on it.
  ///
  /// - Throws: ``Failure`` if the script fails.
  package func killNode(_ node: String) throws { try call(["kill-node", directory.path, node]) }

  /// Sends a signal to a service: `slurmctld`, `munged`, `n1` or `n2`.
  package func send(_ signal: Int32, to service: String) {
    let process = FixtureScript.output("cat '\(directory.file("run/\(service).pid"))'").text
    if let id = Int32(process.filter { $0 != "\n" }) { kill(id, signal) }
  }

  /// Runs a shell text that can call Slurm's commands, and returns its output.
  @discardableResult
  package func shell(_ text: String) -> String {
    FixtureScript.output(
      "SLURM_CONF='\(directory.file("etc/slurm.conf"))'; export SLURM_CONF; \(text)"
    ).text
  }

  private func call(_ words: [String]) throws {
    let (output, status) = FixtureScript.run("slurm/cluster", words, log: directory.file("start"))
    if status != 0 { throw Failure(description: output) }
  }
}
