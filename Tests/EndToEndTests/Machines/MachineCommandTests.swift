// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of commands for scripts with processes of a host, through a real ssh.
@Suite(
  "Commands for other machines", .serialized, .timeLimit(.minutes(5)), .onOwnThread,
  .enabled(if: SSHServer.isInstalled, SSHServer.missing))
struct MachineCommandTests {
  /// Returns one batch frame of a process of the host.
  private func frame(
    of process: MonitoredProcess, in scene: MachineScene, _ filter: String
  ) throws -> BatchFrame {
    let program = try scene.run([
      "attach", "login:\(process.id)", "--batch", "-n", "1", "--json", "--filter", filter,
    ])
    #expect(program.ending == .status(0), "\(program.errors)")
    return try JSONDecoder().decode(BatchFrame.self, from: Data(program.output.utf8))
  }

  @Test("RM-1: A script suspends, asks why, cancels, waits and resumes, with the usual statuses")
  func script() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let place = ["-p", "login:\(process.id)"]
    let suspended = try scene.run(["suspend", "net"] + place)
    #expect(suspended.ending == .status(0), "\(suspended.errors)")
    #expect(suspended.output == "queue net suspended\n")
    var held: BatchFrame.Operation?
    #expect(
      scene.wait {
        held = try? frame(of: process, in: scene, "state:held queue:net").operations.first
        return held != nil
      })
    let operation = try #require(held)
    let id = "\(operation.id.rawValue)"
    let why = try scene.run(["why", id] + place)
    #expect(why.ending == .status(0), "\(why.errors)")
    #expect(why.output.hasPrefix("#\(id) \(operation.name): held: net is suspended\n"))
    let tree = try scene.run(["tree", id] + place)
    #expect(tree.ending == .status(0) && tree.output.contains("#\(id)"), "\(tree.errors)")
    let wait = try scene.run(["wait", id, "--timeout", "10ms"] + place)
    #expect(wait.ending == .status(1))
    #expect(wait.errors == "opq-top: timed out; still waiting: #\(id)\n")
    // opq-top finds the id of a name with a separate session.
    let named = try scene.run(["why", operation.name, "-H", "login", "-p", "\(process.id)"])
    let isFound = named.output.hasPrefix("#\(id) \(operation.name): held: net is suspended\n")
    let isOneOfSeveral =
      named.ending == .status(1) && named.errors.contains("operations have the name")
      && named.errors.contains("#\(id)")
    #expect(isFound || isOneOfSeveral, "\(named.output)\(named.errors)")
    let cancel = try scene.run(["cancel", id] + place)
    #expect(cancel.ending == .status(0), "\(cancel.errors)")
    #expect(cancel.output.hasPrefix("cancel requested: #\(id)"))
    let resume = try scene.run(["resume", "net"] + place)
    #expect(resume.ending == .status(0) && resume.output == "queue net resumed\n")
    let over = try scene.run(["wait", id, "--timeout", "60"] + place)
    #expect(over.ending == .status(0), "\(over.errors)")
    let unknown = try scene.run(["why", "999999999"] + place)
    #expect(unknown.ending == .status(1))
    #expect(unknown.errors.contains("#999999999 is unknown"), "\(unknown.errors)")
  }

  @Test("RM-1: ls lists the processes of a host, and its JSON has the host")
  func list() throws {
    let scene = try MachineScene()
    let none = try scene.run(["ls", "login"])
    #expect(none.ending == .status(3))
    none.expectSentence("no monitored process found on login")
    let process = try scene.process()
    let local = try scene.localProcess()
    for arguments in [["ls", "login"], ["ls", "-H", "login"], ["ls", "--via", scene.via]] {
      let listed = try scene.run(arguments)
      #expect(listed.ending == .status(0), "\(listed.errors)")
      #expect(listed.output.contains("\(process.id)  demo-monitored-process"), "\(listed.output)")
      #expect(!listed.output.contains("\(local.id) "))
    }
    let json = try scene.run(["ls", "login", "--json"])
    #expect(json.output.contains("\"host\":\"login\"") && json.output.contains("\(process.id)"))
  }

  @Test("RM-1, RM-2: Batch frames name the host in each format")
  func batch() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let local = try scene.localProcess()
    let batch = ["--batch", "-n", "1"]
    #expect(try frame(of: process, in: scene, "state:exec").process.host == "login")
    let text = try scene.run(["-H", "login"] + batch)
    #expect(text.output.contains("[\(process.id)] on login total"), "\(text.output)")
    let tsv = try scene.run(
      ["attach", "login:\(process.id)", "\(local.id)", "--tsv", "--fields", "id"] + batch)
    #expect(tsv.output.hasPrefix("time\thost\tpid\tid\n"), "\(tsv.errors)")
    #expect(tsv.output.contains("\tlogin\t\(process.id)\t"))
    #expect(tsv.output.contains("\t\t\(local.id)\t"))
  }

  @Test("RM-1: A process of a host is recorded, and the recording can be replayed")
  func record() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let file = scene.directory.file("run.opq")
    let record = try scene.run(["record", "-p", "login:\(process.id)", "-o", file, "--for", "1s"])
    #expect(record.ending == .status(0), "\(record.errors)")
    #expect(record.errors.contains("of data in"))
    let replay = try scene.run(["replay", file, "--batch", "-n", "1"])
    #expect(replay.ending == .status(0), "\(replay.errors)")
    #expect(replay.output.contains("demo-monitored-process[\(process.id)] total"))
    // The dashboard and its recording have separate sessions.
    let second = scene.directory.file("second.opq")
    let window = try scene.show(
      ["attach", "login:\(process.id)", "--record", second], until: "LIVE")
    scene.close(window)
    let replayed = try scene.run(["replay", second, "--batch", "-n", "1"])
    #expect(replayed.ending == .status(0), "\(replayed.errors)")
  }

  @Test("RM-1: Ctrl-C completes the recording of a process of a host")
  func interruptedRecording() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let file = scene.directory.file("run.opq")
    let record = try scene.start(["record", "-p", "login:\(process.id)", "-o", file])
    #expect(scene.wait { FileManager.default.fileExists(atPath: file) }, "\(record.errors)")
    record.window.absorb(for: .seconds(1))
    record.window.type("\u{3}")
    #expect(record.end() == .status(0), "\(record.errors)")
    record.expectSentence("of data in")
    let replay = try scene.run(["replay", file, "--batch", "-n", "1"])
    #expect(replay.ending == .status(0), "\(replay.errors)")
    #expect(replay.output.contains("[\(process.id)] total"), "\(replay.output)")
  }

  @Test("RM-1: A recording through ssh has the same bytes as a recording over the socket")
  func sameRecording() throws {
    let scene = try MachineScene()
    let process = try ScriptedProcess()
    func recording(_ name: String, _ place: [String]) throws -> Data {
      let file = scene.directory.file(name)
      let program = try scene.start(["record", "-o", file, "--socket", process.path] + place)
      let viewer = try process.welcome()
      // A viewer accepts 8 updates before it requests more. The recording has a complete state every 5 s.
      for second in 1...7 {
        var update = ScriptedProcess.update
        update.time = update.time + .seconds(second)
        viewer.send(update)
      }
      viewer.send(.bye(Farewell(cause: .processEnds, reason: "the process has exited")))
      #expect(program.end() == .status(0), "\(program.errors)")
      return try Data(contentsOf: URL(filePath: file))
    }
    let local = try recording("local.opq", [])
    let remote = try recording("remote.opq", ["-H", "login"])
    let size = Array(UpdateParts(ScriptedProcess.update)).joined().count
    #expect(remote == local && local.count > 8 * size)
    #expect(scene.relays.count == 1)
  }

  @Test("RM-3: A command and forwardings in the configuration of ssh are not used")
  func configuredHost() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let window = try scene.show(["attach", "configured:\(process.id)"], until: "LIVE")
    for socket in scene.configuredSockets {
      #expect(!FileManager.default.fileExists(atPath: socket), "\(socket)")
    }
    scene.close(window)
  }

  @Test("RM-1: opq-top waits until a process of a host listens")
  func waits() throws {
    let scene = try MachineScene()
    // The shell waits for a line. Then the process that listens replaces it, with the same process id.
    let shell = try PseudoTerminal()
    let program = BuiltFolder.path(of: "demo-monitored-process")
    try shell.start(
      "/bin/sh", ["-c", "echo here; read line; exec '\(program)'"],
      environment: [MonitoredProcess.variable(scene.far)])
    defer {
      shell.signal(SIGKILL)
      _ = shell.waitForEnd()
    }
    #expect(shell.wait { $0.contains("here") })
    let id = try #require(shell.child)
    let viewer = try scene.start(["-H", "login", "--wait", "\(id)", "--batch", "-n", "1"])
    #expect(scene.wait { scene.relays.count == 1 }, "\(viewer.errors)")
    shell.type("go\r")
    #expect(viewer.end() == .status(0), "\(viewer.errors)")
    #expect(viewer.output.contains("[\(id)] on login total"), "\(viewer.output)")
  }

  @Test("RM-4: A process of a host that is read-only refuses commands with the status 5")
  func readOnly() throws {
    let scene = try MachineScene()
    let process = try MonitoredProcess(
      BuiltProgram.path, ["demo", "priorities"], environment: ["OPQ_MONITOR=ro"], in: scene.far,
      until: "total")
    let place = ["-H", "login", "-p", "\(process.id)"]
    let cancel = try scene.run(["cancel", "1"] + place)
    #expect(cancel.ending == .status(5))
    #expect(cancel.errors == "opq-top: the process is monitored read-only\n")
  }

  @Test("RM-1: With --via, a command that executes words elsewhere replaces ssh")
  func via() throws {
    let scene = try MachineScene()
    let process = try scene.process()
    let frame = try scene.run([
      "attach", "--via", scene.via, "\(process.id)", "--batch", "-n", "1",
    ])
    #expect(frame.ending == .status(0), "\(frame.errors)")
    #expect(frame.output.contains("[\(process.id)] on env PATH="), "\(frame.output)")
    #expect(scene.logins.isEmpty && scene.relays.count == 1)
    let missing = try scene.run(["ls", "--via", "/nonexistent/docker exec -i web"])
    #expect(missing.ending == .status(3))
    missing.expectSentence("/nonexistent/docker exec -i web")
  }

  @Test("RM-1: A run on a host is found there, and its jobs can be asked about and retried")
  func run() throws {
    let stored = try StoredRunScene(
      """
        broken: {run: 'exit 7'}
        held: {run: 'echo held > "$DIR/ran"; \(StoredRunScene.hold())', grace: 1s}
        next: {run: 'true', needs: [held]}
      """)
    let runner = try stored.start(["run", "--batch", stored.file])
    #expect(stored.wait(for: "held", in: "ran"), "\(runner.errors)")
    let run = try stored.onlyRun()
    let scene = try MachineScene(far: stored.scene.directory)
    let place = ["-H", "login", "--run", run.id, "--state", "\(stored.directory)/.opq"]
    let why = try scene.run(["why", "next"] + place)
    #expect(why.ending == .status(0) && why.output.contains("held"), "\(why.errors)")
    let retry = try scene.run(["retry", "broken"] + place)
    #expect(retry.ending == .status(0), "\(retry.errors)")
    let window = try scene.show(["attach"] + place, until: "held")
    window.type("\\held\r")
    #expect(window.wait { $0.contains("filter: held") }, "\(window.screen)")
    window.type("L")
    #expect(window.wait { $0.contains("the output of jobs is in files on login") })
    window.type("q")
    scene.close(window)
    let log = try scene.run(["log", "held"] + place)
    #expect(log.ending == .status(2))
    log.expectSentence("the output of a job is a file on its machine")
    try stored.open()
    #expect(runner.end() != nil)
    let over = try scene.run(["why", "next"] + place)
    #expect(over.ending == .status(3))
    over.expectSentence("login", "no process runs the jobs")
  }
}
