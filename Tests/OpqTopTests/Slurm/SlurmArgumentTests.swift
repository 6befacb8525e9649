// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient
import OperationsCommands
import Testing

@testable import OpqTop

@Suite("The arguments that select Slurm") struct SlurmArgumentTests {
  private func attach(_ arguments: String...) throws -> AttachCommand {
    try AttachCommand.parse(arguments)
  }

  @Test("SV-1: The word slurm always means Slurm, and a colon precedes a login node")
  func places() throws {
    #expect(try SlurmPlace("slurm")?.login == nil && SlurmPlace("slurm") != nil)
    let remote = try #require(try SlurmPlace("slurm:ann@login1"))
    #expect(remote.login == "ann@login1" && remote.argument == "slurm:ann@login1")
    #expect(remote.commandPrefix == RemotePlace.ssh + ["ann@login1"])
    for other in ["slurm2", "Slurm", "12", "./slurm", "xslurm:a"] {
      #expect(try SlurmPlace(other) == nil)
    }
  }

  @Test(
    "SV-1: A login node that is empty, begins with a hyphen or has white space is refused",
    arguments: ["slurm:", "slurm:-oProxyCommand=x", "slurm:a b", "slurm:a\nb", "slurm:\u{1b}"])
  func refusedPlaces(argument: String) {
    #expect(throws: ValidationError.self) { try SlurmPlace(argument) }
    #expect(throws: (any Error).self) { try attach(argument) }
  }

  @Test("SV-1: Own jobs are shown by default, and those of others with an option")
  func users() throws {
    #expect(try attach("slurm").slurm.users == .own)
    #expect(try attach("slurm", "--user", "ann,ben").slurm.users == .named("ann,ben"))
    #expect(try attach("slurm:login1", "--all").slurm.users == .all)
  }

  @Test("SV-1: With -H, slurm is the name of a host")
  func host() throws {
    #expect(try attach("-H", "slurm", "12").options.machine.place()?.name == "slurm")
  }

  @Test("SV-1: Options and arguments that cannot be combined are refused")
  func combinations() {
    for arguments in [
      ["slurm", "--all", "--user", "ann"], ["12", "--all"], ["--user", "ann"], ["slurm", "12"],
      ["slurm", "slurm:login1"], ["slurm", "-p", "12"], ["slurm", "--record", "file"],
      ["slurm", "--user", ""], ["slurm", "--user=-x"], ["slurm", "-H", "web1"],
      ["slurm:login1", "-H", "web1"], ["slurm", "--via", "docker exec -i web"],
    ] {
      #expect(throws: (any Error).self, "\(arguments)") { try AttachCommand.parse(arguments) }
    }
  }
}
