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

/// Tests of `opq-top run --on slurm` with a real Slurm cluster.
@Suite(
  "Job files on a cluster", .serialized, .timeLimit(.minutes(5)), .onSlurm, .onOwnThread,
  .enabled(if: SlurmNodes.areInstalled, SlurmNodes.missing))
struct ClusterRunTests {
  @Test("JS-1: A diamond runs in its order, and its middle on two nodes at the same time")
  func diamond() throws {
    // Each of the jobs in the middle fills a node, and waits for the other one.
    func middle(_ other: String) -> String {
      let work =
        #"n=0; until grep -q "^+\#(other) " "$DIR/ran"; do sleep 0.1; n=$((n + 1)); test $n -lt 300; done"#
      return "{run: 'set -e; \(ClusterScene.noted(work))', needs: [first], slurm: {cpus: 2}}"
    }
    let scene = try ClusterScene(
      """
        first: {run: '\(ClusterScene.noted())'}
        left: \(middle("right"))
        right: \(middle("left"))
        last: {run: '\(ClusterScene.noted())', needs: [left, right]}
      """, head: "queues: {default: {width: 4}}")
    let program = try scene.run()
    #expect(program.ending == .status(0), "\(program.output)\(program.errors)")
    let lines = scene.stored.lines("ran")
    #expect(lines.count == 8)
    #expect(lines.prefix(2).map { $0.prefix(6) } == ["+first", "-first"])
    #expect(Set(lines[2..<4].map { $0.prefix(3) }) == ["+le", "+ri"])
    #expect(lines.suffix(2).map { $0.prefix(5) } == ["+last", "-last"])
    let nodes = lines[2..<4].compactMap { $0.split(separator: " ").last }
    #expect(Set(nodes) == ["n1", "n2"])
  }

  @Test("JS-1: Widths, retries, conditions and variables mean the same as on one machine")
  func sameMeaning() throws {
    let scene = try ClusterScene(
      """
        narrow: {run: '\(ClusterScene.noted())', each: {N: [1, 2, 3]}}
        second: {run: 'echo "attempt $OPQ_ATTEMPT"; test "$OPQ_ATTEMPT" = 2', retries: 1, retry-pause: 1ms, queue: other}
        broken: {run: 'echo the reason; exit 7', queue: other}
        behind: {run: 'true', needs: [broken], queue: other}
        always: {run: 'echo "$OPQ_RESULT in $(basename "$PWD")"', needs: [broken], when: always, queue: other}
      """, head: "queues: {default: {width: 1}, other: {width: 4}}")
    let program = try scene.run()
    #expect(program.ending == .status(1), "\(program.errors)")
    let starts = scene.stored.lines("ran").map { $0.first }
    #expect(starts == ["+", "-", "+", "-", "+", "-"])
    let run = try scene.stored.onlyRun()
    #expect(run.records("start", of: "second").map(\.attempt) == [1, 2])
    #expect(run.end(of: "second")?.state == "succeeded")
    #expect(run.end(of: "broken")?.status == 7)
    #expect(run.end(of: "broken")?.reason == "exit status 7: the reason")
    #expect(run.end(of: "behind")?.state == "skipped" && run.end(of: "behind")?.origin == "broken")
    let folder = scene.stored.directory.split(separator: "/").last ?? ""
    #expect(program.output.contains("succeeded always"), "\(program.output)")
    #expect(program.output.contains("failure in \(folder)"), "\(program.output)")
    let log = try scene.stored.run(["log", "second", "--attempt", "1", "--run", run.id])
    #expect(log.output == "attempt 1\n")
  }

  @Test("JS-4: The timeout of an attempt does not contain the time in which the job is pending")
  func timeout() throws {
    let scene = try ClusterScene(
      """
        late: {run: 'echo ran', timeout: 2s, slurm: {options: [--begin=now+6]}}
        long: {run: 'exec sleep 600', timeout: 2s, grace: 1s}
      """)
    let program = try scene.run()
    #expect(program.ending == .status(1), "\(program.errors)")
    let run = try scene.stored.onlyRun()
    #expect(run.end(of: "late")?.state == "succeeded")
    // The last line of the output, which follows, is a message of Slurm.
    #expect(run.end(of: "long")?.reason?.hasPrefix("an attempt took longer than 2.00s") == true)
    #expect(scene.squeue("%j", states: "pending,running,completing").isEmpty)
  }

  @Test("JS-7: The refusal of a job is one sentence with the words of Slurm")
  func refusal() throws {
    let scene = try ClusterScene(
      """
        nowhere: {run: 'true', slurm: {partition: none}}
        large: {run: 'true', slurm: {memory: 9000G}}
      """)
    let program = try scene.run()
    #expect(program.ending == .status(1))
    let run = try scene.stored.onlyRun()
    #expect(
      run.end(of: "nowhere")?.reason?.hasPrefix("was refused by Slurm: ") == true,
      "\(run.end(of: "nowhere")?.reason ?? "")")
    #expect(run.end(of: "nowhere")?.reason?.contains("partition") == true)
    #expect(run.end(of: "large")?.reason?.hasPrefix("was refused by Slurm: ") == true)
  }

  @Test("JS-2: The journal has the comment of a submission, and then its id and its time")
  func journal() throws {
    let scene = try ClusterScene("  one: {run: '\(StoredRunScene.hold())'}")
    let program = try scene.start()
    #expect(
      scene.stored.wait {
        scene.stored.runs.first?.records("submitted", of: "one").last?.submitted != nil
      }, "\(program.errors)")
    try scene.stored.open()
    #expect(program.end(within: 120) == .status(0), "\(program.errors)")
    let run = try scene.stored.onlyRun()
    let start = try #require(run.records("start", of: "one").first)
    let comment = try #require(start.comment)
    #expect(start.name == "one" && start.id == nil && comment.hasPrefix("opq-"))
    let submitted = run.records("submitted", of: "one")
    #expect(submitted.allSatisfy { $0.comment == comment })
    #expect(submitted.last?.id != nil && submitted.last?.submitted != nil)
    #expect(
      scene.squeue("%i %k").contains("\(submitted.last?.id ?? 0) \(comment)"))
  }

  @Test("JS-8: A dry run shows the place, and starts nothing")
  func dryRun() throws {
    let scene = try ClusterScene("  one: {run: 'true'}")
    let program = try scene.stored.run(
      ["run", "--dry-run", "--on", "slurm:login:/data", scene.stored.file])
    #expect(program.ending == .status(0))
    #expect(
      program.output.hasSuffix("\nthe commands run on the Slurm cluster of login, in /data\n"))
    #expect(scene.stored.runs.isEmpty)
  }

  @Test("JS-8, JS-9: Through a login node, the output is copied to this machine")
  func login() throws {
    let scene = try ClusterScene(
      """
        one: {run: 'echo "in $PWD"; seq 3000'}
        two: {run: 'echo behind; exit 3', needs: [one]}
      """, on: "slurm:login:data")
    let home = scene.stored.scene.file("home")
    try FileManager.default.createDirectory(
      atPath: "\(home)/data", withIntermediateDirectories: true)
    // The arguments of ssh are options, the login node and a command. The first call limits the time to connect.
    scene.stored.writeProgram(
      "ssh",
      """
      case "$1 $2 $3" in
        '-oBatchMode=yes -oConnectTimeout=15 login' | '-oBatchMode=yes -oConnectTimeout=60 login') shift 3 ;;
        *) exit 255 ;;
      esac
      HOME='\(home)' exec env '\(scene.environment[0])' "$@"
      """)
    let program = try scene.stored.start(
      ["run", "--batch", scene.stored.file] + scene.place, environment: [scene.stored.programPath])
    #expect(program.end(within: 120) == .status(1), "\(program.errors)")
    let run = try scene.stored.onlyRun()
    #expect(run.end(of: "one")?.state == "succeeded", "\(program.output)")
    #expect(run.end(of: "two")?.status == 3)
    let log = try scene.stored.run(["log", "one", "--run", run.id])
    let lines = log.output.split(separator: "\n")
    #expect(lines.first?.hasSuffix("/home/data") == true && lines.count == 3001)
    #expect(lines.last == "3000")
    #expect(FileManager.default.fileExists(atPath: "\(home)/data/.opq/runs/\(run.id)/jobs"))
  }

  @Test(
    "JS-8, JS-9: The commands of Slurm are called through a real ssh",
    .enabled(if: SSHServer.isInstalled, SSHServer.missing))
  func realLogin() throws {
    let work = try TemporaryDirectory()
    let scene = try ClusterScene(
      """
        one: {run: 'echo "in $PWD"; seq 3000', each: {N: [1, 2, 3, 4]}}
        two: {run: 'echo behind; exit 3', needs: [one]}
      """, head: "queues: {default: {width: 4}}", on: "slurm:login:\(work.path)")
    let server = try SSHServer(for: scene.nodes)
    let program = try scene.stored.start(
      ["run", "--batch", scene.stored.file] + scene.place, environment: [server.programPath])
    #expect(program.end(within: 120) == .status(1), "\(program.errors)")
    let run = try scene.stored.onlyRun()
    for number in 1...4 {
      #expect(run.end(of: "one[\(number)]")?.state == "succeeded", "\(program.output)")
      let log = try scene.stored.run(["log", "one[\(number)]", "--run", run.id])
      let lines = log.output.split(separator: "\n")
      #expect(lines.first == "in \(work.path)" && lines.count == 3001)
    }
    #expect(run.end(of: "two")?.status == 3)
  }
}

/// Tests of places that cannot be used. They need no cluster.
@Suite("Clusters that cannot be used", .timeLimit(.minutes(5)), .onOwnThread)
struct UnusableClusterTests {
  @Test("JS-8: If Slurm's commands are missing, one sentence says so, and no run is created")
  func missingCommands() throws {
    let scene = try StoredRunScene("  one: {run: 'true'}")
    let program = try scene.run(
      ["run", "--batch", "--on", "slurm", scene.file], environment: ["PATH=\(scene.directory)"])
    #expect(program.ending == .status(2))
    program.expectSentence("Slurm cannot be used", "the command sbatch was not found")
    #expect(scene.runs.isEmpty)
  }

  /// Starts a run with programs in place of Slurm's commands, and waits for its end.
  ///
  /// - Parameters:
  ///   - scene: The scene.
  ///   - sbatch: The text of the program `sbatch`. The other programs do nothing.
  /// - Returns: The program.
  /// - Throws: The error of a system call.
  private func run(in scene: StoredRunScene, sbatch: String) throws -> StartedProgram {
    for name in ["squeue", "scancel", "scontrol"] { scene.writeProgram(name, "exit 0") }
    scene.writeProgram("sbatch", sbatch)
    return try scene.run(
      ["run", "--batch", "--on", "slurm", scene.file], environment: [scene.programPath])
  }

  @Test("JS-8: If Slurm's commands are missing, a resume says so, and leaves the run as it was")
  func missingCommandsAtResume() throws {
    let scene = try StoredRunScene("  one: {run: 'true'}")
    // The runner is killed at the submission.
    let runner = try run(
      in: scene, sbatch: "kill -KILL \"$(cat '\(scene.directory)'/.opq/runs/*/lock)\"")
    #expect(runner.ending == .signal(SIGKILL), "\(runner.errors)")
    let stored = try scene.onlyRun()
    let journal = stored.contents("journal.jsonl")
    let path = ["PATH=\(scene.directory)"]
    let resumed = try scene.run(["run", "--resume", "--batch"], environment: path)
    #expect(resumed.ending == .status(2))
    resumed.expectSentence("Slurm cannot be used", "the command sbatch was not found")
    // A dry run calls nothing.
    let dry = try scene.run(["run", "--resume", "--dry-run"], environment: path)
    #expect(dry.ending == .status(0), "\(dry.errors)")
    #expect(stored.contents("journal.jsonl") == journal)
  }

  @Test("JS-8: If Slurm's commands are missing, a retry says so, and leaves the run as it was")
  func missingCommandsAtRetry() throws {
    let scene = try StoredRunScene("  one: {run: 'true'}")
    let words = "sbatch: error: Batch job submission failed: Invalid partition name specified"
    let runner = try run(in: scene, sbatch: "echo '\(words)' >&2; exit 1")
    #expect(runner.ending == .status(1), "\(runner.errors)")
    let stored = try scene.onlyRun()
    let journal = stored.contents("journal.jsonl")
    let path = ["PATH=\(scene.directory)"]
    let retried = try scene.run(["retry", "--batch", "one"], environment: path)
    #expect(retried.ending == .status(2))
    retried.expectSentence("Slurm cannot be used", "the command sbatch was not found")
    // If no job is left to run, the command only prints the summary of the run.
    let resumed = try scene.run(["run", "--resume", "--batch"], environment: path)
    #expect(resumed.ending == .status(1) && resumed.errors.isEmpty, "\(resumed.errors)")
    #expect(stored.contents("journal.jsonl") == journal)
  }

  @Test(
    "JS-8: Unknown places, short times, and a place for a resume are mistakes",
    arguments: [
      ["--on", "pbs"], ["--poll", "1s"], ["--on", "slurm", "--poll", "0.5"],
      ["--resume", "--on", "slurm"],
    ])
  func mistakes(options: [String]) throws {
    let scene = try StoredRunScene("  one: {run: 'true'}")
    let program = try scene.run(["run", "--batch", scene.file] + options)
    #expect(program.ending == .status(2))
    program.expectSentence()
  }
}
