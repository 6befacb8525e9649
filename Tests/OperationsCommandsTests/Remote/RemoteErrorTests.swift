// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Testing

@Suite("The errors of work in another process")
struct RemoteErrorTests {
  @Test("RW-4: A signal is an error with the last lines")
  func signalHasLines() throws {
    var end = CommandError(.signal, "Tile")
    end.signal = 11
    let error = try #require(RemoteError(endOf: end, "Tile", lastLines: ["one", "two"]))
    #expect(error.code == .signal && error.signal == 11 && error.lastLines == ["one", "two"])
    #expect(error.description == "“Tile” was ended by signal 11 (SIGSEGV): two")
  }

  @Test("RW-5: An exit without a result is an error with the exit status", arguments: [0, 3])
  func exitHasStatus(status: Int32) throws {
    var end = CommandError(.exitStatus, "Tile")
    end.exitStatus = status
    let error = try #require(
      RemoteError(endOf: status == 0 ? nil : end, "Tile", lastLines: []))
    #expect(error.code == .noResult && error.exitStatus == status && error.signal == nil)
    #expect(
      error.description == "“Tile” ended with exit status \(status) and without a result")
  }

  @Test("RW-5: A process that cannot be started or ended has the error of its command")
  func startHasCommandError() {
    let codes: [CommandError.Code] = [
      .programNotFound, .workingDirectory, .file, .fileDescriptors, .start, .stillAlive,
      .statusUnknown, .refusedBySlurm, .endedBySlurm, .lostBySlurm,
    ]
    for code in codes {
      #expect(RemoteError(endOf: CommandError(code, "Tile"), "Tile", lastLines: []) == nil)
    }
  }

  @Test("RW-3: An error of the work has its type and its description")
  func thrownHasType() {
    var error = RemoteError(.thrown, "Tile", reason: "no such layer")
    error.errorType = "map.LayerError"
    #expect(error.description == "“Tile” has thrown map.LayerError: no such layer")
  }
}
