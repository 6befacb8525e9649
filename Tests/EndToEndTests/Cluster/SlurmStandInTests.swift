// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of `opq-top attach slurm` with programs that replace Slurm's commands. They need no cluster.
@Suite("When a viewer of Slurm calls commands", .serialized, .timeLimit(.minutes(5)), .onOwnThread)
struct SlurmStandInTests {
  @Test("SV-9: squeue is called once in ten seconds, and once after a command")
  func calls() throws {
    let scene = try SlurmStandIns()
    let window = try scene.show()
    window.type("W")
    #expect(scene.stored.wait { scene.calls.count == 2 }, "\(window.screen)")
    #expect(scene.stored.wait { scene.calls.count == 3 }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    let calls = scene.calls
    try #require(calls.count == 3)
    // The start of a process takes a different time for each call.
    #expect(calls[1] - calls[0] >= .milliseconds(700), "\(calls)")
    #expect(calls[2] - calls[1] >= .milliseconds(9_500), "\(calls)")
  }

  @Test("SV-8: A release begins after the end of the hold that was requested before it")
  func order() throws {
    let scene = try SlurmStandIns(change: "sleep 0.5")
    let window = try scene.show()
    window.type("WVW")
    #expect(scene.stored.wait { scene.stored.lines("changes").count == 6 }, "\(window.screen)")
    #expect(
      scene.stored.lines("changes") == ["+hold", "-hold", "+release", "-release", "+hold", "-hold"])
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("SV-13: A command that was typed just before the end is carried out")
  func commandBeforeEnd() throws {
    let scene = try SlurmStandIns(change: "sleep 0.3")
    let window = try scene.show()
    window.type("Wq")
    #expect(window.waitForEnd() == .status(0))
    #expect(scene.stored.lines("changes") == ["+hold", "-hold"])
  }

  @Test("SV-13: If ssh hangs during a command, opq-top and ssh end within two seconds")
  func hangingCommand() throws {
    let scene = try SlurmStandIns()
    let window = try scene.show("slurm:login")
    try scene.stored.open("hang")
    window.type("W")
    #expect(scene.stored.wait { !scene.hung.isEmpty }, "\(window.screen)")
    let start = ContinuousClock.now
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    #expect(start.duration(to: .now) < .milliseconds(2_500))
    #expect(scene.hung.allSatisfy { !StoredRunScene.isAlive($0) }, "ssh outlives opq-top")
  }

  @Test("SV-13: If ssh hangs before the first answer, a signal ends opq-top and ssh")
  func hangingLogin() throws {
    let scene = try SlurmStandIns()
    try scene.stored.open("hang")
    let program = try scene.stored.start(
      ["attach", "slurm:login", "--batch", "-n", "1"], environment: [scene.stored.programPath])
    #expect(scene.stored.wait { !scene.hung.isEmpty }, "\(program.errors)")
    program.window.signal(SIGTERM)
    #expect(program.end(within: 10) == .signal(SIGTERM))
    #expect(scene.hung.allSatisfy { !StoredRunScene.isAlive($0) }, "ssh outlives opq-top")
  }
}
