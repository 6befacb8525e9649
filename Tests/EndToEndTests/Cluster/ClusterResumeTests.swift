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

/// Tests of runs on a cluster whose runner is killed.
@Suite(
  "Resumed runs on a cluster", .serialized, .timeLimit(.minutes(5)), .onSlurm, .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct ClusterResumeTests {
  private static func held(_ ending: String) -> String {
    """
      held: {run: 'echo "start $OPQ_ATTEMPT" >> "$DIR/ran"; \(StoredRunScene.hold()); \(ending)'}
      after: {run: 'echo after >> "$DIR/ran"', needs: [held]}
    """
  }

  /// Starts a run, waits until the job `held` runs, and kills the runner.
  private func killRunner(
    in scene: ClusterScene, environment: [String] = []
  ) throws -> StoredRun {
    let runner = try scene.start(environment: environment)
    #expect(scene.stored.wait(for: "start 1", in: "ran"), "\(runner.errors)")
    runner.kill()
    return try scene.stored.onlyRun()
  }

  @Test("JS-3: A resume awaits a job of Slurm that runs, and does not start it again")
  func running() throws {
    let scene = try ClusterScene(Self.held("echo the end"))
    let run = try killRunner(in: scene)
    let resumed = try scene.resume()
    #expect(try scene.stored.waitUntilExecuting("held", in: resumed), "\(resumed.errors)")
    #expect(resumed.output.contains("held was submitted to the cluster, and its end is awaited"))
    try scene.stored.open()
    #expect(resumed.end() == .status(0), "\(resumed.output)\(resumed.errors)")
    #expect(scene.stored.lines("ran") == ["start 1", "after"])
    #expect(run.records("start", of: "held").map(\.attempt) == [1])
    #expect(run.end(of: "held")?.state == "succeeded")
    #expect(run.contents("jobs/1-held.1.log") == "the end\n")
  }

  @Test(
    "JS-3, JS-8, JS-9: Through a real ssh, a resume awaits a job of Slurm that runs",
    .enabled(if: SSHServer.isInstalled, SSHServer.missing))
  func runningBehindLogin() throws {
    let work = try TemporaryDirectory()
    let scene = try ClusterScene(Self.held("echo the end"), on: "slurm:login:\(work.path)")
    let server = try SSHServer(for: scene.nodes)
    let run = try killRunner(in: scene, environment: [server.programPath])
    let resumed = try scene.resume(environment: [server.programPath])
    #expect(try scene.stored.waitUntilExecuting("held", in: resumed), "\(resumed.errors)")
    try scene.stored.open()
    #expect(resumed.end() == .status(0), "\(resumed.output)\(resumed.errors)")
    #expect(scene.stored.lines("ran") == ["start 1", "after"])
    #expect(run.records("start", of: "held").map(\.attempt) == [1])
    #expect(run.contents("jobs/1-held.1.log") == "the end\n")
  }

  @Test("JS-3: A resume takes the exit status of a job of Slurm that ended without a runner")
  func ended() throws {
    let scene = try ClusterScene(Self.held("exit 7"))
    let run = try killRunner(in: scene)
    try scene.stored.open()
    #expect(scene.stored.wait { run.contents("jobs/1-held.1.status").hasPrefix("7 ") })
    let resumed = try scene.resume()
    #expect(resumed.end() == .status(1), "\(resumed.output)\(resumed.errors)")
    #expect(scene.stored.lines("ran") == ["start 1"])
    #expect(run.end(of: "held")?.status == 7 && run.end(of: "held")?.attempt == 1)
    #expect(run.end(of: "after")?.state == "skipped")
  }

  @Test("JS-3: A resume takes the success of a job of Slurm that ended without a runner")
  func succeeded() throws {
    let scene = try ClusterScene(Self.held("true"))
    let run = try killRunner(in: scene)
    try scene.stored.open()
    #expect(scene.stored.wait { run.contents("jobs/1-held.1.status").hasPrefix("0 ") })
    #expect(try scene.resume().end() == .status(0))
    #expect(scene.stored.lines("ran") == ["start 1", "after"])
  }

  @Test("JS-3: Wherever the runner is killed at a submission, each job runs once")
  func killedAtSubmissions() throws {
    // Three layers of four jobs. Each job needs two jobs of the layer before.
    let jobs = (0..<12).map { number in
      let layer = number / 4
      let needs = [number % 4, (number + 1) % 4].map { "j\((layer - 1) * 4 + $0)" }
      let list = layer == 0 ? "" : ", needs: [\(needs.joined(separator: ", "))]"
      return "  j\(number): {run: '\(ClusterScene.noted("sleep 0.1"))'\(list)}"
    }
    let scene = try ClusterScene(
      jobs.joined(separator: "\n"), head: "queues: {default: {width: 4}}")
    // Each call kills the runner: before the submission, after it, or in place of it.
    scene.stored.writeProgram(
      "sbatch",
      """
      exec 9>>'\(scene.stored.directory)/calls'
      flock 9
      runner=$(cat '\(scene.stored.directory)'/.opq/runs/*/lock)
      echo "$runner" >&9
      number=$(wc -l <'\(scene.stored.directory)/calls')
      case $((number % 3)) in
        0) kill -KILL "$runner"; exec /usr/bin/sbatch "$@" 9>&- ;;
        1) /usr/bin/sbatch "$@" 9>&-; kill -KILL "$runner" ;;
        2) kill -KILL "$runner"; exec sleep 2 ;;
      esac
      """)
    var runner = try scene.start(environment: [scene.stored.programPath])
    var killCount = 0
    // Each third call submits nothing, and several calls of one runner can be on their way.
    while runner.end(within: 60) == .signal(SIGKILL), killCount < 60 {
      killCount += 1
      runner = try scene.resume(environment: [scene.stored.programPath])
    }
    #expect(runner.ending == .status(0), "\(runner.output)\(runner.errors)")
    print("\(killCount) runners were killed")
    #expect(killCount >= 3)
    try expectEnd(scene)
  }

  private func expectEnd(_ scene: ClusterScene) throws {
    let names = Set((0..<12).map { "j\($0)" })
    var running: Set<String> = []
    var ended: Set<String> = []
    for line in scene.stored.lines("ran") {
      let name = String(line.dropFirst().prefix { $0 != " " })
      if line.hasPrefix("+") {
        #expect(running.insert(name).inserted && !ended.contains(name), "\(name) runs twice")
      } else {
        running.remove(name)
        ended.insert(name)
      }
    }
    #expect(running.isEmpty && ended == names)
    let run = try scene.stored.onlyRun()
    let records = try run.records()
    #expect(records.last?.event == "finish")
    for name in names {
      let ends = records.filter { $0.event == "end" && $0.job == name }
      #expect(ends.map(\.state) == ["succeeded"] && ends.first?.attempt == 1, "\(name)")
    }
    // Slurm has no job that the journal does not have.
    let comments = Set(records.compactMap(\.comment))
    let jobs = scene.squeue("%k %j").filter { $0.contains(" j") }
    let own = jobs.map { String($0.prefix { $0 != " " }) }
    #expect(Set(own).count == own.count && own.count >= 12)
    #expect(own.allSatisfy { comments.contains($0) })
  }
}
