// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// Starts one real Slurm cluster for all tests of a suite.
///
/// The cluster has the partition `main`, and the partition `closed`, to which only the superuser may submit jobs.
package struct OnSlurm: SuiteTrait, TestScoping {
  /// The cluster of the suite whose test runs; `nil` without the packages that a cluster needs.
  @TaskLocal package static var nodes: SlurmNodes?

  /// Starts the cluster, and performs the tests of the suite.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent () async throws -> Void
  ) async throws {
    guard SlurmNodes.areInstalled else { return try await function() }
    let nodes = try SlurmNodes("PartitionName=closed Nodes=n1 AllowGroups=root")
    try await Self.$nodes.withValue(nodes) { try await function() }
  }
}

extension Trait where Self == OnSlurm {
  /// A trait with which the tests of a suite share a real Slurm cluster.
  package static var onSlurm: Self { OnSlurm() }
}
