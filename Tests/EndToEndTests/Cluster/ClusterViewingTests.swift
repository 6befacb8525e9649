// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of the dashboard and of commands for scripts, for runs on a cluster.
@Suite(
  "Viewing jobs on a cluster", .serialized, .timeLimit(.minutes(5)), .onSlurm, .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct ClusterViewingTests {
  /// Starts a run on a terminal, and waits until the dashboard contains a text.
  private func show(
    _ scene: ClusterScene, until text: String, environment: [String] = []
  ) throws -> PseudoTerminal {
    let window = try scene.stored.show(
      ["run", scene.stored.file] + scene.place, environment: scene.environment + environment)
    #expect(window.wait { $0.isAlternate && $0.contains(text) }, "\(window.screen)")
    return window
  }

  /// Cancels the selected job, which is the only one.
  private func cancel(_ name: String, in window: PseudoTerminal) {
    window.type("\\\(name)\r")
    #expect(window.wait { $0.contains("filter: \(name)") }, "\(window.screen)")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel") && $0.contains(name) }, "\(window.screen)")
    window.type("y")
  }

  /// A job that runs until it is cancelled.
  private static let held = "  held: {run: 'echo x >> \"$DIR/ran\"; exec sleep 600', grace: 2s}"

  /// Starts a run with the job ``held``, and cancels the job by a key when its command runs.
  private func cancelHeld(in scene: ClusterScene, environment: [String] = []) throws {
    let window = try show(scene, until: "running on n", environment: environment)
    #expect(scene.stored.wait(for: "x", in: "ran"))
    cancel("held", in: window)
    let run = try scene.stored.onlyRun()
    #expect(scene.stored.wait { run.end(of: "held")?.state == "cancelled" }, "\(window.screen)")
    #expect(scene.squeue("%j", states: "pending,running,completing").isEmpty)
    window.type("q")
    #expect(window.waitForEnd() == .status(1))
  }

  @Test("JS-5, JS-6: A pending job shows the reason of Slurm, and a key cancels it")
  func cancelPending() throws {
    let scene = try ClusterScene(
      "  late: {run: 'true', slurm: {options: [--begin=now+3600]}}")
    let window = try show(scene, until: "pending: BeginTime")
    cancel("late", in: window)
    let run = try scene.stored.onlyRun()
    #expect(scene.stored.wait { run.end(of: "late")?.state == "cancelled" }, "\(window.screen)")
    #expect(scene.squeue("%j", states: "pending,running").isEmpty)
    window.type("q")
    #expect(window.waitForEnd() == .status(1))
  }

  @Test("JS-5, JS-6: A running job shows its node, and a key cancels it")
  func cancelRunning() throws {
    try cancelHeld(in: ClusterScene(Self.held))
  }

  @Test(
    "JS-6, JS-9: Through a real ssh, a key cancels a job whose command runs",
    .enabled(if: SSHServer.isInstalled, SSHServer.missing))
  func cancelBehindLogin() throws {
    let work = try TemporaryDirectory()
    let scene = try ClusterScene(Self.held, on: "slurm:login:\(work.path)")
    let server = try SSHServer(for: scene.nodes)
    try withExtendedLifetime(server) {
      try cancelHeld(in: scene, environment: [server.programPath])
    }
  }

  @Test("JS-5: Why says that a partition is full")
  func fullPartition() throws {
    let scene = try ClusterScene("  one: {run: 'true', slurm: {cpus: 2}}")
    scene.nodes.shell("for n in 1 2; do sbatch -c2 -o /dev/null --wrap 'sleep 600'; done")
    #expect(scene.stored.wait { scene.squeue("%T").count { $0 == "RUNNING" } == 2 })
    let program = try scene.start()
    #expect(scene.stored.wait { scene.stored.runs.first?.records("start").isEmpty == false })
    let run = try scene.stored.onlyRun()
    var why = ""
    let isSaid = scene.stored.wait(every: 200_000) {
      why = (try? scene.stored.run(["why", "one", "--run", run.id]).output) ?? ""
      return why.contains("status: pending: Resources") || why.contains("status: pending: Priority")
    }
    #expect(isSaid, "\(why)")
    scene.nodes.shell("scancel -n wrap")
    #expect(program.end() == .status(0), "\(program.errors)")
  }
}
