// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of `opq-top run` without a dashboard.
@Suite("Running jobs from a file", .timeLimit(.minutes(10)), .onOwnThread)
struct RunCommandTests: JobFileTests {
  @Test("JR-14: The status is 0 if all jobs have succeeded, and each start and end is a line")
  func allSucceeded() throws {
    let scene = try LaunchScene()
    let ending = try run(
      """
        first: {run: 'echo hello'}
        second: {run: 'true', needs: [first]}
      """, in: scene)
    #expect(ending == .status(0), "\(scene.contents("errors"))")
    let lines = lines(scene)
    #expect(
      lines.dropLast() == [
        "started   first", "succeeded first: hello", "started   second", "succeeded second",
      ])
    let summary = try #require(lines.last)
    let run = try scene.onlyRun()
    #expect(summary == "2 jobs: 2 succeeded; output in \(run.file("jobs"))")
    let logs = try FileManager.default.contentsOfDirectory(atPath: run.file("jobs")).filter {
      $0.hasSuffix(".log")
    }
    #expect(logs == ["1-first.1.log"])
    #expect(run.contents("jobs/1-first.1.log") == "hello\n")
  }

  @Test("JR-14: The status is 1 if a job has failed, and the summary counts the jobs")
  func someFailed() throws {
    let scene = try LaunchScene()
    let ending = try run(
      """
        broken: {run: 'exit 4'}
        next: {run: 'true', needs: [broken]}
      """, in: scene)
    #expect(ending == .status(1))
    #expect(
      lines(scene) == [
        "started   broken", "failed    broken: exit status 4",
        "skipped   next: broken failed", "2 jobs: 1 failed, 1 skipped",
      ])
  }

  @Test("JR-17: A job that waits for a failure runs if it is selected without its needs")
  func onlyFailureJob() throws {
    let scene = try LaunchScene()
    let jobs = """
        backup: {run: 'true'}
        alarm: {run: 'echo "$OPQ_RESULT"', needs: [backup], when: failure}
      """
    #expect(try run(jobs, ["--only", "alarm"], in: scene) == .status(0))
    #expect(lines(scene).dropLast() == ["started   alarm", "succeeded alarm: failure"])
  }

  @Test("JR-10: The result that another run has set does not reach the jobs")
  func resultOfOtherRun() throws {
    let scene = try LaunchScene()
    let file = try write("  job: {run: 'echo \"${OPQ_RESULT-none}\"'}", in: scene)
    #expect(try scene.run(["run", file], environment: ["OPQ_RESULT=failure"]) == .status(0))
    #expect(lines(scene).dropLast() == ["started   job", "succeeded job: none"])
  }

  @Test("JF-5: A queue without a width runs as many jobs as processors are available")
  func defaultWidth() throws {
    let scene = try LaunchScene()
    let file = try write("  job: {run: 'true'}", in: scene)
    let command = "exec taskset -c 0 '\(BuiltProgram.path)' run '\(file)' --dry-run --json"
    #expect(try scene.run(["-c", command], of: "/bin/sh") == .status(0))
    #expect(scene.contents("output").contains("\"width\":1"), "\(scene.contents("output"))")
  }

  @Test("JR-12: Output that cannot be written is one sentence, and the jobs run")
  func fullOutput() throws {
    let scene = try LaunchScene()
    let file = try write("  job: {run: 'echo ran > \"$DIR/ran\"'}", in: scene)
    let ending = try scene.run(
      ["-c", "exec '\(BuiltProgram.path)' run '\(file)' >/dev/full"], of: "/bin/sh")
    #expect(ending == .status(1))
    #expect(scene.contents("ran") == "ran\n")
    #expect(scene.contents("errors").contains("No space left on device"))
    #expect(scene.contents("errors").split(separator: "\n").count == 1)
  }

  @Test("JR-5: With --fail-fast, the first failure cancels the other jobs")
  func failFast() throws {
    let scene = try LaunchScene()
    let ending = try run(
      """
        broken: {run: 'exit 4'}
        other: {run: 'echo ran >> "$DIR/ran"', each: {N: [1, 2]}}
        clean: {run: 'echo "$OPQ_RESULT"', needs: [broken], when: always}
      """, ["--fail-fast", "-j1"], in: scene)
    #expect(ending == .status(1))
    let reason = "broken failed, and --fail-fast cancels the other jobs"
    #expect(
      Set(lines(scene).dropLast()) == [
        "started   broken", "failed    broken: exit status 4", "cancelled other[1]: \(reason)",
        "cancelled other[2]: \(reason)", "started   clean", "succeeded clean: failure",
      ])
    #expect(scene.contents("ran") == "")
  }

  @Test("JR-9, JR-14: A line gives the reason of each failed attempt")
  func failedAttempts() throws {
    let scene = try LaunchScene()
    let ending = try run(
      "  flaky: {run: 'echo oh; test $OPQ_ATTEMPT = 2', retries: 3, retry-pause: 1ms}", in: scene)
    #expect(ending == .status(0))
    #expect(
      lines(scene).dropLast() == [
        "started   flaky", "retrying  flaky: attempt 1 of 4 failed: exit status 1: oh",
        "started   flaky, attempt 2 of 4", "succeeded flaky after 2 attempts: oh",
      ])
  }

  @Test(
    "JR-15: A mistake in the file or the options has the status 2, and nothing starts",
    arguments: [
      (["jobs.yaml", "--only", "frist"], "unknown job \"frist\"; did you mean \"first\"?"),
      (["none.yaml"], "cannot read none.yaml: No such file or directory"),
      (["wrong.yaml"], "wrong.yaml:2: the job \"first\" has the unknown key \"rnu\""),
      (["jobs.yaml", "--lines", "jobs.yaml"], "give either a job file or --lines with a file"),
      ([], "give either a job file or --lines with a file"),
      (["jobs.yaml", "-j0"], "-j needs a number of at least 1, not 0"),
      (["jobs.yaml", "--json"], "--json needs --dry-run"),
      (
        ["jobs.yaml", "--dry-run", "--state", "."],
        "--state has no effect with --dry-run, which stores nothing"
      ),
      (["--resume", "-j2"], "-j cannot be changed; use only one of --resume and -j"),
      (
        ["--resume", "--lines", "jobs.yaml"],
        "--lines cannot be changed; use only one of --resume and --lines"
      ),
      (["--resume", "--fail-fast"], "use only one of --resume and --fail-fast"),
      (["--resume", "--dry-run", "--json"], "use only one of --resume and --json"),
      (["jobs.yaml", "--batch", "--keep"], "use only one of --batch and --keep"),
      (["jobs.yaml", "--batch", "--color=always"], "use only one of --batch and --color=always"),
      (["jobs.yaml", "--dry-run", "--keep"], "use only one of --dry-run and --keep"),
      (["jobs.yaml", "--dry-run", "--fail-fast"], "use only one of --dry-run and --fail-fast"),
      (
        ["jobs.yaml", "--dry-run", "--color=always"],
        "use only one of --dry-run and --color=always"
      ),
    ])
  func mistakes(arguments: [String], message: String) throws {
    let scene = try LaunchScene()
    _ = try write("  first: {run: 'echo ran > \"$DIR/ran\"'}", in: scene)
    try "jobs:\n  first: {rnu: 'true'}\n".write(
      toFile: scene.file("wrong.yaml"), atomically: true, encoding: .utf8)
    let words = arguments.map { "'\($0)'" }.joined(separator: " ")
    let ending = try scene.run(
      ["-c", "cd '\(scene.directory.path)'; exec '\(BuiltProgram.path)' run \(words)"],
      of: "/bin/sh")
    #expect(ending == .status(2))
    #expect(scene.contents("errors").contains(message), "\(scene.contents("errors"))")
    #expect(scene.contents("ran") == "" && scene.contents("output") == "")
    #expect(!FileManager.default.fileExists(atPath: scene.file(".opq")))
  }

  @Test("JR-17: A dry run prints the plan as text or JSON, and runs nothing")
  func dryRun() throws {
    let scene = try LaunchScene()
    let jobs = """
        first: {run: 'echo ran > "$DIR/ran"'}
        second: {run: 'true', needs: [first]}
        other: {run: 'true'}
      """
    #expect(try run(jobs, ["--dry-run", "--until", "second"], in: scene) == .status(0))
    let text = scene.contents("output").split(separator: "\n")
    #expect(text.count == 2 && text.first?.hasPrefix("first ") == true)
    #expect(
      try run(jobs, ["--dry-run", "--json", "-j3", "--only", "second"], in: scene) == .status(0))
    let json = scene.contents("output")
    #expect(json.contains("\"needs\":[]") && json.contains("\"width\":3"))
    #expect(!json.contains("\"first\"") && scene.contents("ran") == "")
  }

  @Test("JR-15: A mistake in standard input names it", arguments: [false, true])
  func mistakeInStandardInput(isLines: Bool) throws {
    let scene = try LaunchScene()
    try (isLines ? "true\ntrue \u{0}\n" : "jobs:\n  first: {rnu: 'true'}\n").write(
      toFile: scene.file("input"), atomically: true, encoding: .utf8)
    let ending = try scene.run(
      ["run"] + (isLines ? ["--lines"] : []) + ["-"], input: scene.file("input"))
    #expect(ending == .status(2))
    #expect(scene.contents("errors").contains("opq-top: standard input:2: "))
  }

  @Test("JR-14, JR-17: Lines and plans without colors have only ASCII characters with --ascii")
  func asciiOutput() throws {
    let scene = try LaunchScene()
    /// Runs a job, and returns the first lines of the output.
    func lines(_ arguments: [String], count: Int) throws -> [String] {
      try? FileManager.default.removeItem(atPath: scene.file("output"))
      let ending = try run(
        "  job: {run: 'echo é→', each: {N: ['ü']}}", arguments, in: scene)
      #expect(ending == .status(0), "\(scene.contents("errors"))")
      return Array(self.lines(scene).prefix(count))
    }
    for option in [["--unicode"], ["--no-color"], ["--color=never"]] {
      #expect(
        try lines(["--batch"] + option, count: 2) == ["started   job[ü]", "succeeded job[ü]: é→"])
    }
    #expect(
      try lines(["--batch", "--ascii"], count: 2) == ["started   job[?]", "succeeded job[?]: ??"])
    #expect(
      try lines(["--dry-run", "--batch", "--ascii", "--no-color"], count: 9)
        == ["job[?]  default  -  echo ??"])
  }

  @Test("JR-17: --only runs a job alone, and --until runs it with its needs")
  func selections() throws {
    let scene = try LaunchScene()
    let jobs = """
        first: {run: 'echo first >> "$DIR/ran"'}
        second: {run: 'echo second >> "$DIR/ran"', needs: [first]}
        third: {run: 'echo third >> "$DIR/ran"', needs: [second]}
      """
    #expect(try run(jobs, ["--only", "second"], in: scene) == .status(0))
    #expect(scene.contents("ran") == "second\n")
    #expect(try run(jobs, ["--until", "second"], in: scene) == .status(0))
    #expect(scene.contents("ran") == "second\nfirst\nsecond\n")
  }

  @Test("JR-18: Each line of a file or of standard input is a job", arguments: ["lines.txt", "-"])
  func plainLines(name: String) throws {
    let scene = try LaunchScene()
    try "echo one\n# no command\n\necho two\n".write(
      toFile: scene.file("lines.txt"), atomically: true, encoding: .utf8)
    let file = name == "-" ? "-" : scene.file(name)
    let ending = try scene.run(
      ["run", "-j1", "--lines", file, "--state", scene.file("state")],
      input: scene.file("lines.txt"))
    #expect(ending == .status(0), "\(scene.contents("errors"))")
    #expect(
      lines(scene).dropLast() == [
        "started   line-1", "succeeded line-1: one", "started   line-4", "succeeded line-4: two",
      ])
  }

  @Test("JR-18: A file without commands is a run without jobs")
  func noLines() throws {
    let scene = try LaunchScene()
    #expect(try scene.run(["run", "--lines", "-", "--state", scene.file("state")]) == .status(0))
    #expect(lines(scene) == ["0 jobs"])
  }

  @Test("JR-11: Output and names do not control the terminal")
  func hostileOutput() throws {
    let scene = try LaunchScene()
    let file = try write(
      #"""
        job: {run: 'printf "\033]0;x\007\033[2J\n"; exit 1', each: {WORD: ['é "', 'a b']}}
      """#, in: scene)
    let window = try scene.start(["run", file, "--batch"], showsScreen: true)
    window.keepTranscript()
    #expect(window.waitForEnd() == .status(1))
    let transcript = try #require(window.transcript)
    #expect(transcript.allSatisfy { $0 >= 0x20 || $0 == 0x0A || $0 == 0x0D })
    #expect(String(decoding: transcript, as: UTF8.self).contains("\\x1b]0;x\\x07"))
  }

  @Test("JR-12: A full disk is one sentence for each job, and the run ends")
  func fullDisk() throws {
    let scene = try LaunchScene()
    let file = try write(
      """
        fill: {run: 'head -c 100000 /dev/zero; echo "still alive"'}
        next: {run: 'true', needs: [fill]}
      """, in: scene)
    let ending = try scene.run(
      ["-c", "ulimit -f 8; exec '\(BuiltProgram.path)' run '\(file)'"], of: "/bin/bash")
    // `head` is ended by the signal about the limit, and the shell cannot write to the log either.
    #expect(ending == .status(1), "\(scene.contents("errors"))")
    #expect(lines(scene).count == 4)
    #expect(lines(scene)[1] == "failed    fill: was ended by signal 25 (SIGXFSZ)")
    #expect(lines(scene)[2] == "skipped   next: fill failed")
  }

  @Test("JR-12: A reader that closes the output does not end the jobs")
  func closedOutput() throws {
    let scene = try LaunchScene()
    let file = try write(
      "  job: {run: 'sleep 0.01; echo ran >> \"$DIR/ran\"', each: {N: [1, 2, 3, 4, 5, 6, 7, 8]}}",
      in: scene)
    let ending = try scene.run(
      ["-c", "'\(BuiltProgram.path)' run -j1 '\(file)' | head -n 1; exit \"${PIPESTATUS[0]}\""],
      of: "/bin/bash")
    #expect(ending == .status(0))
    #expect(scene.contents("ran").split(separator: "\n").count == 8)
  }
}
