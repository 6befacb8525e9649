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

/// Tests of the users, the end and the cost of the connections to a host.
@Suite(
  "Links to other machines", .serialized, .timeLimit(.minutes(5)), .onOwnThread,
  .enabled(if: SSHServer.isInstalled, SSHServer.missing))
struct MachineLinkTests {
  @Test("RM-1: A recording continues when the user chooses another process of the host")
  func recordingOfPreviousSource() throws {
    let scene = try MachineScene()
    let (first, second) = (try scene.process(), try scene.process())
    let file = scene.directory.file("run.opq")
    let window = try scene.show(
      ["attach", "login:\(first.id)", "--record", file], until: "LIVE")
    window.type("o")
    #expect(window.wait { $0.contains("\(second.id) ") }, "\(window.screen)")
    window.type("\r")
    #expect(window.wait { $0.contains("[\(second.id)]") && $0.contains("LIVE") })
    let size = fileSize(file)
    #expect(scene.wait { fileSize(file) > size }, "the recording has stopped")
    scene.close(window)
    let replay = try scene.run(["replay", file, "--batch", "-n", "1"])
    #expect(replay.ending == .status(0), "\(replay.errors)")
    #expect(replay.output.contains("[\(first.id)] total"), "\(replay.output)")
  }

  private func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  @Test(
    "RM-3: A stopped ssh or relay does not delay the end of opq-top, and no ssh remains",
    arguments: [true, false])
  func end(stopsSSH: Bool) throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    let login = try #require(scene.logins.first)
    kill(try #require(stopsSSH ? login : scene.relays.first), SIGSTOP)
    let start = ContinuousClock.now
    scene.close(window)
    let time = start.duration(to: .now)
    print("opq-top ended \(time) after q, while \(stopsSSH ? "ssh" : "the relay") was stopped")
    #expect(time < .seconds(10))
    #expect(scene.wait { !scene.isAlive(login) }, "ssh outlives opq-top")
  }

  @Test("RM-7: If the login is denied at a reconnection, the session ends with this reason")
  func deniedReconnect() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    try scene.refuseLogins()
    kill(try #require(scene.logins.last), SIGKILL)
    #expect(window.wait { $0.contains("cannot log in to login") }, "\(window.screen)")
    #expect(window.screen.contains("Permission denied"), "\(window.screen)")
    let count = scene.logins.count
    window.absorb(for: .seconds(1))
    #expect(scene.logins.count == count, "opq-top logs in again")
    window.type("q")
    #expect(window.waitForEnd() != nil)
  }

  @Test("RM-7: If the login is denied at a reconnection, record ends with status 5")
  func deniedRecording() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let file = scene.directory.file("run.opq")
    let record = try scene.start(["record", "-p", "login:\(process.id)", "-o", file])
    #expect(scene.wait { fileSize(file) > 0 }, "\(record.errors)")
    let size = fileSize(file)
    #expect(scene.wait { fileSize(file) > size }, "\(record.errors)")
    try scene.refuseLogins()
    kill(try #require(scene.logins.last), SIGKILL)
    #expect(record.end() == .status(5), "\(record.errors)")
    record.expectSentence(
      "the recording stopped: cannot log in to login", "Permission denied", "of data in")
    let replay = try scene.run(["replay", file, "--batch", "-n", "1"])
    #expect(replay.ending == .status(0), "\(replay.errors)")
    #expect(replay.output.contains("[\(process.id)] total"), "\(replay.output)")
    let bytes = try Data(contentsOf: URL(filePath: file))
    #expect(bytes.range(of: Data("cannot log in".utf8)) == nil, "the recording has a farewell")
  }

  @Test("RM-7: A stopped process of a host is silent, and continues without a new login")
  func stoppedProcess() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    process.signal(SIGSTOP)
    #expect(window.wait { $0.contains("SILENT") }, "\(window.screen)")
    window.absorb(for: .seconds(2))
    #expect(window.screen.contains("SILENT"), "\(window.screen)")
    process.signal(SIGCONT)
    #expect(window.wait { $0.contains("LIVE") && !$0.contains("SILENT") }, "\(window.screen)")
    #expect(scene.logins.count == 1 && scene.relays.count == 1)
    scene.close(window)
  }

  @Test("RM-2, RM-7: If the ssh of one of two hosts is killed, only this host is connected again")
  func twoHosts() throws {
    let scene = try MachineScene()
    let (first, second) = (try scene.process(), try scene.process())
    let window = try scene.show(
      ["attach", "login:\(first.id)", "second:\(second.id)"], until: "sum 2 processes")
    let logins = scene.logins
    #expect(logins.count == 2)
    kill(logins[0], SIGKILL)
    #expect(scene.wait { scene.logins.count == 3 && scene.relays.count == 3 })
    #expect(window.wait { !$0.contains("RECONNECTING") }, "\(window.screen)")
    #expect(scene.isAlive(logins[1]))
    scene.close(window)
    #expect(scene.wait { scene.logins.allSatisfy { !scene.isAlive($0) } }, "ssh outlives opq-top")
  }

  @Test("RM-2: The processor time of a relay with 8 processes is printed")
  func relayTime() throws {
    let scene = try MachineScene()
    let processes = try (1...8).map { _ in try scene.process() }
    let window = try scene.show(
      ["attach"] + processes.map { "login:\($0.id)" }, until: "sum 8 processes")
    let relay = try #require(scene.relays.first)
    let (before, start) = (try #require(processorTime(of: relay)), ContinuousClock.now)
    window.absorb(for: .seconds(10))
    let used = try #require(processorTime(of: relay)) - before
    let share = used / start.duration(to: .now)
    print("a relay with 8 processes used \((share * 1_000).rounded() / 10) % of a processor")
    // The limit is generous, because the tests are not optimized.
    #expect(share < 0.1)
    scene.close(window)
  }
}
