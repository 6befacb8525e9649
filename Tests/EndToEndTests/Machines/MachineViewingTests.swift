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

/// Tests of the dashboard with processes of a host, through a real ssh.
@Suite(
  "Viewing other machines", .serialized, .timeLimit(.minutes(5)), .onOwnThread,
  .enabled(if: SSHServer.isInstalled, SSHServer.missing))
struct MachineViewingTests {
  @Test("RM-1, RM-2: Two processes of a host and a local one are on one screen, through one ssh")
  func severalMachines() throws {
    let scene = try MachineScene()
    let (first, second) = (try scene.process(), try scene.process())
    let local = try scene.localProcess()
    let window = try scene.show(
      ["attach", "login:\(first.id)", "login:\(second.id)", "\(local.id)"],
      until: "sum 3 processes")
    #expect(window.screen.contains("# HOST"), "\(window.screen)")
    let rows = window.screen.lines.map { $0.split(separator: " ").map { String($0) } }
    #expect(rows.contains { $0.prefix(3) == ["1", "login", "\(first.id)"] }, "\(window.screen)")
    #expect(rows.contains { $0.prefix(3) == ["2", "login", "\(second.id)"] })
    #expect(rows.contains { $0.prefix(2) == ["3", "\(local.id)"] })
    // The processes have the same name, so the operations have the host and the process id.
    #expect(window.wait { $0.contains(":\(first.id) ") }, "\(window.screen)")
    #expect(scene.logins.count == 1 && scene.relays.count == 1)
    scene.close(window)
    let login = try #require(scene.logins.first)
    #expect(scene.wait { !scene.isAlive(login) }, "ssh outlives opq-top")
  }

  @Test("RM-1, RM-4: A key cancels an operation of a process on a host")
  func cancel() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "] on login")
    #expect(window.screen.contains("ATTACHED rw"), "\(window.screen)")
    window.type("\\state:waiting\r")
    #expect(window.wait { $0.contains("filter: state:waiting") }, "\(window.screen)")
    // The last operations of the list wait for a long time.
    window.type("G")
    let isSelected = { (line: String) in line.hasPrefix("▌") && line.contains(" waiting ") }
    #expect(window.wait { $0.lines.contains(where: isSelected) }, "\(window.screen)")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #") }, "\(window.screen)")
    window.type("y")
    #expect(window.wait { $0.contains("cancel requested") }, "\(window.screen)")
    #expect(process.waitUntilLogged("cancel #"))
    scene.close(window)
  }

  @Test("RM-1: The picker lists the processes of the host, and r connects again for new ones")
  func picker() throws {
    let scene = try MachineScene()
    var processes = [try scene.process(), try scene.process()]
    let window = try scene.show(["-H", "login"], until: "processes on login to attach to")
    #expect(
      window.wait { screen in processes.allSatisfy { screen.contains("\($0.id) ") } },
      "\(window.screen)")
    #expect(scene.logins.count == 1)
    processes.append(try scene.process())
    window.type("r")
    #expect(window.wait { $0.contains("\(processes[2].id) ") }, "\(window.screen)")
    #expect(scene.logins.count == 2)
    #expect(scene.wait { !scene.isAlive(scene.logins[0]) }, "the previous ssh continues")
    window.type("\r")
    #expect(window.wait { $0.contains("LIVE") && $0.contains("] on login") }, "\(window.screen)")
    #expect(scene.logins.count == 2 && scene.isAlive(scene.logins[1]))
    // The picker has its own connection, which ends when the picker is closed.
    window.type("o")
    #expect(window.wait { $0.contains("attached") && $0.contains("\(processes[2].id) ") })
    #expect(scene.logins.count == 3)
    window.type("\u{1B}")
    #expect(scene.wait { !scene.isAlive(scene.logins[2]) }, "the ssh of the picker continues")
    #expect(scene.isAlive(scene.logins[1]))
    scene.close(window)
  }

  @Test("RM-1: If the ssh of the picker ends, only r connects again")
  func lostPicker() throws {
    let scene = try MachineScene()
    let processes = [try scene.process(), try scene.process()]
    let window = try scene.show(["-H", "login"], until: "processes on login to attach to")
    #expect(window.wait { $0.contains("\(processes[1].id) ") }, "\(window.screen)")
    try scene.refuseLogins()
    kill(try #require(scene.logins.last), SIGKILL)
    #expect(
      window.wait { $0.contains("cannot list the processes: the connection to login was lost") },
      "\(window.screen)")
    // The time is longer than the time between two searches.
    window.absorb(for: .seconds(5))
    #expect(scene.logins.count == 1, "the picker logs in again")
    #expect(window.screen.contains("\(processes[1].id) "), "\(window.screen)")
    window.type("r")
    #expect(window.wait { $0.contains("cannot log in to login") }, "\(window.screen)")
    window.absorb(for: .seconds(5))
    #expect(scene.logins.count == 2, "the picker logs in again")
    scene.close(window)
  }

  @Test("RM-1: The end of a process on a host is shown as that of a local process")
  func end() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    process.signal(SIGKILL)
    #expect(window.wait { $0.contains("EXITED") }, "\(window.screen)")
    #expect(window.wait { $0.contains("crashed or was killed") }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() != nil)
  }

  @Test("RM-7: If ssh is killed, opq-top connects again")
  func killedLink() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    kill(try #require(scene.logins.last), SIGKILL)
    #expect(scene.wait { scene.logins.count >= 2 })
    #expect(
      window.wait { $0.contains("LIVE") && !$0.contains("RECONNECTING") }, "\(window.screen)")
    // The new connection sends updates.
    let shown = window.byteCount
    #expect(window.wait { _ in window.byteCount > shown + 1_000 })
    scene.close(window)
  }

  @Test("RM-7: A stopped relay is silent, then lost within 10 seconds, and then replaced")
  func stoppedRelay() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "login:\(process.id)"], until: "LIVE")
    kill(try #require(scene.relays.last), SIGSTOP)
    let start = ContinuousClock.now
    #expect(window.wait { $0.contains("SILENT") }, "\(window.screen)")
    #expect(window.wait { $0.contains("RECONNECTING") }, "\(window.screen)")
    let time = start.duration(to: .now)
    print("a stopped relay was lost after \(time)")
    #expect(time > .seconds(2) && time < .seconds(15))
    #expect(
      window.wait { $0.contains("LIVE") && !$0.contains("RECONNECTING") }, "\(window.screen)")
    #expect(scene.relays.count >= 2)
    scene.close(window)
  }

  @Test("RM-1: The first frame of a process on a host appears soon")
  func firstFrame() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let start = ContinuousClock.now
    let window = try scene.show(["attach", "login:\(process.id)"], until: "total")
    let time = start.duration(to: .now)
    print("first frame over loopback ssh after \(time)")
    // The limit is generous, because other tests can run at the same time.
    #expect(time < .seconds(10))
    scene.close(window)
  }
}
