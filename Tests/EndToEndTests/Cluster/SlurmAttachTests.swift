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

/// Tests of `opq-top attach slurm` with jobs that `sbatch` has submitted.
@Suite(
  "Watching jobs of Slurm", .serialized, .timeLimit(.minutes(5)), .onSlurm, .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct SlurmAttachTests {
  /// Submits a job, and returns its id.
  private func submit(_ options: String, _ command: String, in scene: ClusterScene) -> String {
    let output = scene.nodes.shell(
      "cd '\(scene.nodes.work)' && sbatch --parsable \(options) --wrap '\(command)'")
    return String(output.prefix { $0 != "\n" })
  }

  private func show(
    _ scene: ClusterScene, _ arguments: [String] = [], until text: String
  ) throws -> PseudoTerminal {
    let window = try scene.stored.show(
      ["attach", "slurm"] + arguments, environment: scene.environment)
    #expect(window.wait { $0.isAlternate && $0.contains(text) }, "\(window.screen)")
    return window
  }

  /// Returns the jobs as one frame.
  private func frame(of arguments: [String], in scene: ClusterScene) throws -> Frame {
    let program = try scene.stored.run(
      ["attach"] + arguments + ["--batch", "-n", "1", "--json"], environment: scene.environment)
    #expect(program.ending == .status(0), "\(program.errors)")
    return try JSONDecoder().decode(Frame.self, from: Data(program.output.utf8))
  }

  /// The state and the reason of a job.
  private func state(of id: String, in scene: ClusterScene) -> String {
    scene.nodes.shell("squeue -h -t all -j \(id) -o '%T %r'")
  }

  @Test("SV-2, SV-4: Jobs, their states and their dependencies are shown, and the counts add up")
  func batch() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let running = submit("-J running", "exec sleep 600", in: scene)
    #expect(scene.stored.wait { state(of: running, in: scene).contains("RUNNING") })
    let waiting = submit("-J waiting -d afterok:\(running)", "true", in: scene)
    let held = submit("-J held --hold", "true", in: scene)
    let failed = submit("-J failed", "exit 3", in: scene)
    #expect(scene.stored.wait { state(of: failed, in: scene).contains("FAILED") })
    let frame = try frame(of: ["slurm"], in: scene)
    let found = Dictionary(uniqueKeysWithValues: frame.operations.map { ("\($0.id)", $0) })
    #expect(found[running]?.state == "executing" && found[running]?.name == "running")
    #expect(found[waiting]?.state == "waiting")
    #expect(found[waiting]?.dependencies.map { "\($0)" } == [running])
    #expect(found[held]?.state == "held" && found[failed]?.state == "failed")
    let counts = try #require(frame.queues.first { $0.name == "main" }).counts
    #expect(
      counts.waiting + counts.ready + counts.executing + counts.finished + counts.cancelled
        == counts.total)
    #expect(counts.total == frame.operations.count)
  }

  @Test(
    "SV-1: The options --all and --user show the jobs of other users",
    .enabled(if: geteuid() == 0, "only root can be another user"))
  func otherUsers() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let own = submit("-J own --hold", "true", in: scene)
    let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
    let other = scene.nodes.shell(
      "cd '\(scene.nodes.work)' && \(user) sbatch --parsable -J other --hold --wrap true"
    ).filter(\.isNumber)
    defer { scene.nodes.shell("scancel \(other)") }
    func shown(_ options: String...) throws -> Set<String> {
      let frame = try frame(of: ["slurm"] + options, in: scene)
      return Set(frame.operations.map { "\($0.id)" }).intersection([own, other])
    }
    #expect(Int(own) != nil && Int(other) != nil, "\(own) \(other)")
    #expect(try shown() == [own])
    #expect(try shown("--all") == [own, other])
    #expect(try shown("--user", "65534") == [other])
  }

  @Test(
    "SV-1, SV-8: Slurm's commands are called through a real ssh, which ends with opq-top",
    .enabled(if: SSHServer.isInstalled, SSHServer.missing))
  func realLogin() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let id = submit("-J distant --begin=now+3600", "true", in: scene)
    let server = try SSHServer(for: scene.nodes)
    // Only the programs that ssh starts have the variable with the configuration of Slurm.
    let window = try scene.stored.show(
      ["attach", "slurm:login"], environment: [server.programPath])
    #expect(window.wait { $0.contains("pending: BeginTime") }, "\(window.screen)")
    window.type("\\distant\r")
    #expect(window.wait { $0.contains("filter: distant") }, "\(window.screen)")
    window.type("W")
    #expect(window.wait { $0.contains("pending: JobHeld") }, "\(window.screen)")
    #expect(state(of: id, in: scene).contains("JobHeld"))
    window.type("V")
    #expect(scene.stored.wait { state(of: id, in: scene).contains("BeginTime") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    let processes = scene.nodes.shell("pgrep -f '[s]sh -F \(server.programs.dropLast(3))client'")
    #expect(processes.isEmpty, "\(processes)")
  }

  @Test("SV-7, SV-8: A pending job shows its reason, and keys hold and release it")
  func holdAndRelease() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let id = submit("-J later --begin=now+3600", "true", in: scene)
    let window = try show(scene, until: "pending: BeginTime")
    window.type("\\later\r")
    #expect(window.wait { $0.contains("filter: later") }, "\(window.screen)")
    window.type("W")
    #expect(window.wait { $0.contains("pending: JobHeld") }, "\(window.screen)")
    #expect(state(of: id, in: scene).contains("JobHeld"))
    window.type("V")
    #expect(window.wait { $0.contains("pending: BeginTime") }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("SV-8: A key cancels a job that another program has submitted")
  func cancel() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let id = submit("-J unwanted", "exec sleep 600", in: scene)
    #expect(scene.stored.wait { state(of: id, in: scene).contains("RUNNING") })
    let window = try show(scene, until: "running on n")
    window.type("\\unwanted\r")
    #expect(window.wait { $0.contains("filter: unwanted") }, "\(window.screen)")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #\(id)") }, "\(window.screen)")
    window.type("y")
    #expect(scene.stored.wait { state(of: id, in: scene).contains("CANCELLED") })
    #expect(window.wait { $0.contains("cancelled") }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("SV-8: A part of an array is cancelled without the tasks that run")
  func cancelPartOfArray() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let id = submit("-J parts --array=1-9:2%1", "exec sleep 600", in: scene)
    #expect(scene.stored.wait { state(of: "\(id)_1", in: scene).contains("RUNNING") })
    let window = try show(scene, until: "\(id)_[")
    window.type("\\\(id)_[\r")
    #expect(window.wait { $0.contains("filter: ") }, "\(window.screen)")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #\(id)") }, "\(window.screen)")
    window.type("y")
    #expect(scene.stored.wait { !state(of: id, in: scene).contains("PENDING") })
    #expect(state(of: "\(id)_1", in: scene).contains("RUNNING"))
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("SV-11: L shows the output of a job")
  func output() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let id = submit("-J talking", "echo first line; exec sleep 600", in: scene)
    #expect(scene.stored.wait { state(of: id, in: scene).contains("RUNNING") })
    let window = try show(scene, until: "running on n")
    window.type("\\talking\r")
    #expect(window.wait { $0.contains("filter: talking") }, "\(window.screen)")
    window.type("L")
    #expect(window.wait { $0.contains("first line") }, "\(window.screen)")
    window.type("qq")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("SV-10: Without an answer at the start, one sentence says why")
  func noController() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let program = try scene.stored.run(
      ["attach", "slurm", "--batch", "-n", "1"], environment: ["SLURM_CONF=/nowhere"])
    #expect(program.ending == .status(1), "\(program.errors)")
    #expect(program.errors.hasPrefix("opq-top: Slurm cannot be used: "))
    #expect(program.errors.split(separator: "\n").count == 1)
    let unknown = try scene.stored.run(
      ["attach", "slurm", "--user", "no-such-user", "--batch", "-n", "1"],
      environment: scene.environment)
    #expect(unknown.errors == "opq-top: Slurm cannot be used: Invalid user: no-such-user\n")
  }

  @Test("SV-10: While the controller is down, the last state stays, and jobs do not end")
  func controllerRestart() throws {
    let scene = try ClusterScene("  unused: {run: 'true'}")
    let id = submit("-J lasting", "exec sleep 600", in: scene)
    #expect(scene.stored.wait { state(of: id, in: scene).contains("RUNNING") })
    let window = try show(scene, until: "running on n")
    scene.nodes.send(SIGKILL, to: "slurmctld")
    #expect(window.wait(seconds: 90) { $0.contains("Slurm cannot be used") }, "\(window.screen)")
    #expect(window.screen.contains("lasting"))
    try scene.nodes.startController()
    #expect(
      window.wait(seconds: 90) {
        !$0.contains("Slurm cannot be used") && $0.contains("running on n")
      }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}

/// A part of a frame of `--json`.
private struct Frame: Decodable {
  struct Queue: Decodable {
    struct Counts: Decodable {
      let waiting, ready, executing, finished, cancelled, total: Int
    }

    let name: String
    let counts: Counts
  }

  struct Operation: Decodable {
    let id: Int
    let name: String
    let state: String
    let dependencies: [Int]
  }

  let queues: [Queue]
  let operations: [Operation]
}
