// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import OperationsCommands

@Suite(
  "Work on a Slurm cluster", .serialized, .timeLimit(.minutes(5)), .onSlurm, .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct SlurmRemoteTests {
  /// Runs the fixture `remote`, whose work runs on the cluster of the suite.
  private func runOnSlurm(_ name: String, _ argument: String = "") async throws -> [String] {
    let nodes = try #require(OnSlurm.nodes)
    return try await runRemote(
      name, argument,
      environment: [
        "OPQ_FIXTURE_SLURM": "\(nodes.work)/remote",
        "SLURM_CONF": nodes.directory.file("etc/slurm.conf"),
      ])
  }

  @Test("RW-21: The output of work on a cluster is the result")
  func outputIsResult() async throws {
    #expect(try await runOnSlurm("sum") == ["42"])
  }

  @Test("RW-21: On a cluster, the demo of work in other processes prints its expected output")
  func demoDraws() async throws {
    let nodes = try #require(OnSlurm.nodes)
    let project = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let expected = contents(of: project.joined(separator: "/") + "/demos/cluster/expected.txt")
    let lines = try await runRemote(
      "--on", "slurm", "--directory", "\(nodes.work)/tiles",
      program: BuiltFolder.path(of: "demo-cluster"),
      environment: ["SLURM_CONF": nodes.directory.file("etc/slurm.conf")])
    try #require(!expected.isEmpty)
    #expect(lines == expected.split(separator: "\n").map { String($0) })
  }

  @Test("RW-21: A crash on a cluster is an error with the signal and the last lines")
  func crashIsError() async throws {
    let lines = try await runOnSlurm("crashing")
    try #require(lines.count == 2)
    #expect(lines[0].hasPrefix("signal: “Crashing” was ended by signal "))
    #expect(lines[0].hasSuffix("Fatal error: it is broken"))
    #expect(lines[1].hasPrefix("line 4; line 5; "))
  }

  @Test("RW-21: Progress, status and log lines of work on a cluster are those of the operation")
  func reportsArrive() async throws {
    let nodes = try #require(OnSlurm.nodes)
    let lines = try await runOnSlurm("reporting", "\(nodes.work)/go")
    #expect(lines.first == "3 of 10, counting \\ slowly")
    #expect(lines.dropFirst().first == "10")
  }

  @Test("RW-21: Cancelling ends work on a cluster")
  func cancellationArrives() async throws {
    let nodes = try #require(OnSlurm.nodes)
    #expect(
      try await runOnSlurm("cancelling", "\(nodes.work)/started")
        == ["true failure(Swift.CancellationError())"])
  }

  @Test("RW-21: The files of work on a cluster are removed")
  func filesAreRemoved() async throws {
    let nodes = try #require(OnSlurm.nodes)
    #expect(try await runOnSlurm("throwing").count == 1)
    #expect(nodes.shell("find '\(nodes.work)/remote' -name 'opq-remote-*'").isEmpty)
  }

  @Test("RW-9, RW-21: A timeout ends work on a cluster")
  func timeoutEndsWork() async throws {
    let nodes = try #require(OnSlurm.nodes)
    let file = "\(nodes.work)/timeout"
    #expect(
      try await runOnSlurm("timeout", file)
        == ["OperationTimeoutError: The operation has not finished within 0.2 seconds."])
    #expect(!isAlive(try #require(Int(contents(of: file)))))
    #expect(nodes.shell("squeue -h -t pending,running") == "")
  }

  @Test("RW-9, RW-21: A retry runs work on a cluster again")
  func retryRunsWorkAgain() async throws {
    let nodes = try #require(OnSlurm.nodes)
    #expect(try await runOnSlurm("retry", "\(nodes.work)/tries") == ["3"])
  }

  @Test("RW-10, RW-21: On a cluster, a copy of the executable is the same build")
  func copyIsSameBuild() async throws {
    let copy = try #require(OnSlurm.nodes).work + "/copy"
    _ = try await run(shell: "cp '\(BuiltFolder.path(of: "fixture-remote"))' '\(copy)'")
    #expect(try await runOnSlurm("executable", copy) == ["3"])
    _ = try await run(shell: "echo >>'\(copy)'")
    #expect(
      try await runOnSlurm("executable", copy) == [
        "otherBuild: “Sum” cannot run: the executable is a different build from that of this process"
      ])
  }
}
