// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import JobRun
@testable import OperationsCommands

@Suite("The place of a run on a cluster")
struct RunClusterTests {
  private static let run = RunDirectory(path: "/data/.opq/runs/20260131-235959-k3x9")

  @Test(
    "JS-8: A place has the word slurm, a login node and a directory",
    arguments: [
      ("slurm", nil, nil), ("slurm:login", "login", "."), ("slurm:me@login", "me@login", "."),
      ("slurm:login:work", "login", "work"), ("slurm:login:/a:b", "login", "/a:b"),
    ] as [(String, String?, String?)])
  func parts(text: String, login: String?, directory: String?) throws {
    let place = try #require(RunCluster(text))
    #expect(place.login == login && place.directory == directory)
    #expect(RunCluster(place.text) == place)
  }

  @Test(
    "JS-8: Other texts are not places",
    arguments: [
      "", "Slurm", "slurmy", "pbs", "slurm:", "slurm::x", "slurm:login:", "slurm:-oProxyCommand=x",
      "slurm:a\u{0}",
    ])
  func otherTexts(text: String) { #expect(RunCluster(text) == nil) }

  @Test("JS-8: The files of a run are in its directory, or in the directory on the cluster")
  func files() throws {
    let local = try #require(RunCluster("slurm"))
    #expect(
      local.files(named: "1-a.1", of: Self.run).base
        == "/data/.opq/runs/20260131-235959-k3x9/jobs/1-a.1")
    #expect(local.client(for: Self.run).sharesFiles)
    let remote = try #require(RunCluster("slurm:login:/home/me"))
    #expect(
      remote.files(named: "1-a.1", of: Self.run).base
        == "/home/me/.opq/runs/20260131-235959-k3x9/jobs/1-a.1")
    let client = remote.client(for: Self.run)
    #expect(!client.sharesFiles)
    #expect(client.commandPrefix == ["ssh", "-oBatchMode=yes", "-oConnectTimeout=60", "login"])
  }

  @Test("JS-8: A sentence says where the commands run")
  func sentences() {
    #expect(
      ["slurm", "slurm:login", "slurm:login:/data"].map { RunCluster($0)?.sentence } == [
        "the commands run on the Slurm cluster of this machine",
        "the commands run on the Slurm cluster of login, in the home directory",
        "the commands run on the Slurm cluster of login, in /data",
      ])
  }
}
