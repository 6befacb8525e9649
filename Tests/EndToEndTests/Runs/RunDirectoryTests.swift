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

/// Tests of the files in the directory of a run, and of what a command sees of the shim.
@Suite("The directory of a run", .timeLimit(.minutes(10)), .onOwnThread)
struct RunDirectoryTests {
  /// Runs the job file in a shell with a file mode mask.
  private func run(_ scene: StoredRunScene, mask: String) throws -> PseudoTerminal.Ending? {
    let script = "umask \(mask) && cd \"$1\" && exec \"$0\" run --batch jobs.yaml"
    return try scene.scene.run(
      ["-c", script, BuiltProgram.path, scene.directory], of: "/bin/sh")
  }

  @Test(
    "RD-1: Only the owner can read a run, and Git ignores it", arguments: ["000", "022", "777"])
  func modes(mask: String) throws {
    let scene = try StoredRunScene("  job: {run: 'echo some output'}")
    #expect(try run(scene, mask: mask) == .status(0), "\(scene.scene.contents("errors"))")
    let files = FileManager.default
    let root = scene.scene.file(".opq")
    let paths = try files.subpathsOfDirectory(atPath: root).map { "\(root)/\($0)" } + [root]
    for path in paths {
      let attributes = try files.attributesOfItem(atPath: path)
      let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
      let mode = try #require(attributes[.posixPermissions] as? NSNumber).intValue
      #expect(mode == (isDirectory ? 0o700 : 0o600), "\(path) has \(String(mode, radix: 8))")
    }
    #expect(scene.scene.contents(".opq/.gitignore") == "*\n")
    let run = try scene.onlyRun()
    #expect(run.id.wholeMatch(of: #/[0-9]{8}-[0-9]{6}-[a-z0-9]{4}/#) != nil)
    let base = try #require(run.base(of: "job"))
    #expect(run.contents("\(base).log") == "some output\n")
  }

  /// Returns the first block of code in a language after a heading of the page about runs.
  private func example(_ language: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../")
    let page = try String(
      contentsOf: root.appending(path: "Sources/opq-top/Runs.md"), encoding: .utf8)
    let section = page.split(separator: "### The journal\n")[1]
    return String(section.split(separator: "```\(language)\n")[1].split(separator: "```")[0])
  }

  /// Returns a line of a journal without the values that each run has for itself.
  private func common(_ line: Substring) throws -> [String: String] {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
    var values = try #require(object as? [String: Any]).mapValues { "\($0)" }
    for key in ["boot", "duration", "host", "process", "time"] where values[key] != nil {
      values[key] = "any"
    }
    return values
  }

  @Test("RD-1: The journal of the example is the one of the page about runs")
  func journal() throws {
    let scene = try StoredRunScene("  unused: {run: 'true'}")
    try example("yaml").write(toFile: scene.file, atomically: true, encoding: .utf8)
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(0))
    let run = try scene.onlyRun()
    let expected = try example("json").split(separator: "\n").map { try common($0) }
    let journal = try run.journalLines.map { try common($0) }
    #expect(journal.count == 8)
    #expect(journal == expected)
    let base = try #require(run.base(of: "merge"))
    #expect(run.contents("\(base).log") == "merged\n" && run.status(of: "merge") == 0)
    #expect(run.status(of: "fetch", attempt: 1) == 1 && run.status(of: "fetch", attempt: 2) == 0)
    // The plan is the one that a dry run prints.
    let plan = try scene.run(["run", "--dry-run", "--json", scene.file]).output
    #expect(plan.contains("\"fetch\""))
    #expect(run.contents("plan.json").split(separator: "\n") == plan.split(separator: "\n"))
  }

  @Test("RD-1: The journal has the start of a job before its command starts")
  func startBeforeCommand() throws {
    let scene = try StoredRunScene(
      #"""
        job:
          each: {NUMBER: [1, 2, 3, 4, 5, 6, 7, 8]}
          run: 'grep -F "$OPQ_JOB" "$DIR/.opq/runs/$OPQ_RUN/journal.jsonl" | grep -F "\"event\":\"start\""'
      """#)
    let ran = try scene.run(["run", "--batch", scene.file])
    #expect(ran.ending == .status(0), "\(ran.output)")
  }

  @Test(
    "RD-2: A command has the mask, the environment and the descriptors of a command without a shim")
  func surroundings() throws {
    let scene = try StoredRunScene(
      #"""
        job:
          run: |
            umask >"$DIR/mask"
            env | grep -i '^opq_' | sed 's/=.*//' | sort >"$DIR/variables"
            ls /proc/self/fd | tr '\n' ' ' >"$DIR/descriptors"
            readlink /proc/self/fd/0 /proc/self/fd/2 >"$DIR/files"
            cat | wc -c >>"$DIR/files"
            pwd >"$DIR/place"
            echo "$0 $#" >"$DIR/words"
            cut -d' ' -f6 /proc/$$/stat >"$DIR/session"
            echo $$ >>"$DIR/session"
      """#)
    #expect(try run(scene, mask: "027") == .status(0), "\(scene.scene.contents("errors"))")
    #expect(scene.lines("mask") == ["0027"])
    #expect(
      scene.lines("variables") == [
        "OPQ_ATTEMPT", "OPQ_JOB", "OPQ_RUN", "OPQ_SOCKET_DIRECTORY",
      ])
    // `ls` has opened the directory itself.
    #expect(scene.lines("descriptors").first?.split(separator: " ") == ["0", "1", "2", "3"])
    let run = try scene.onlyRun()
    let log = run.file("\(try #require(run.base(of: "job"))).log")
    #expect(scene.lines("files") == ["/dev/null", log, "0"])
    #expect(scene.lines("place") == [scene.directory])
    #expect(scene.lines("words").first?.hasSuffix("sh 0") == true)
    // The command is the leader of a session, so its group has no process of the shim.
    #expect(Set(scene.lines("session")).count == 1)
  }

  @Test("RD-2: If a shim is killed, its command is ended, and the exit status is not known")
  func killedShim() throws {
    let scene = try StoredRunScene(
      """
        held: {run: 'echo start >> "$DIR/ran"; \(StoredRunScene.hold())'}
        next: {run: 'true', needs: [held]}
      """)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "start", in: "ran"))
    let run = try scene.onlyRun()
    let shim = try #require(run.shim(of: "held"))
    let group = try #require(run.group(of: "held"))
    kill(shim, SIGKILL)
    #expect(runner.end() == .status(1))
    #expect(!StoredRunScene.isAlive(shim) && !StoredRunScene.isAlive(group))
    #expect(run.end(of: "held")?.state == "failed")
    #expect(run.end(of: "held")?.reason?.contains("exit status is not known") == true)
    #expect(run.end(of: "next")?.state == "skipped")
  }
}
