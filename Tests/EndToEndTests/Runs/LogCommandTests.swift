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

/// Tests of `opq-top log` with the output of a job of a run.
@Suite("The output of a job of a run", .timeLimit(.minutes(10)), .onOwnThread)
struct LogCommandTests {
  /// The maximum memory of the program in KiB.
  private static let memoryLimit = 64 << 10

  /// Returns a scene with a run that has finished.
  private func finishedScene(_ jobs: String, status: Int32 = 0) throws -> StoredRunScene {
    let scene = try StoredRunScene(jobs)
    let run = try scene.run(["run", "--batch", scene.file])
    #expect(run.ending == .status(status), "\(run.errors)")
    return scene
  }

  @Test(
    "RD-9: If no process listens, log prints the last attempt of the newest run, or a named one")
  func attempts() throws {
    let scene = try finishedScene(
      """
        flaky: {run: 'echo "this is $OPQ_ATTEMPT"; test "$OPQ_ATTEMPT" = 2', retries: 1, retry-pause: 1ms}
        quiet: {run: 'true', needs: [flaky]}
      """)
    let run = try scene.onlyRun()
    for place in [
      [], ["--run", String(run.id.prefix(8))], ["--run", run.path], ["--state", ".opq"],
    ] {
      let last = try scene.run(["log", "flaky"] + place)
      #expect(last.ending == .status(0) && last.output == "this is 2\n", "\(last.errors)")
      let first = try scene.run(["log", "flaky", "--attempt", "1", "-f"] + place)
      #expect(first.ending == .status(0) && first.output == "this is 1\n", "\(first.errors)")
    }
    let third = try scene.run(["log", "flaky", "--attempt", "3"])
    #expect(third.ending == .status(1))
    third.expectSentence("there is no attempt 3 of flaky; 2 attempts have started")
    let quiet = try scene.run(["log", "quiet"])
    #expect(quiet.ending == .status(0) && quiet.output.isEmpty)
    quiet.expectSentence("quiet has no output")
    let unknown = try scene.run(["log", "flakey", "-f"])
    #expect(unknown.ending == .status(1))
    unknown.expectSentence("has no job \"flakey\"; did you mean \"flaky\"?")
  }

  @Test("RD-9: A file receives the bytes as they are, and a terminal no byte that controls it")
  func bytes() throws {
    let scene = try finishedScene(#"  job: {run: 'printf "\033[2J\377\r\n\303\244\000end"'}"#)
    let file = try scene.run(["log", "job"])
    #expect(file.ending == .status(0), "\(file.errors)")
    let run = try scene.onlyRun()
    let base = try #require(run.base(of: "job"))
    let bytes = try Data(contentsOf: URL(filePath: run.file("\(base).log")))
    #expect(
      Array(bytes) == [0x1B, 0x5B, 0x32, 0x4A, 0xFF, 0x0D, 0x0A, 0xC3, 0xA4, 0x00] + "end".utf8)
    let copied = try scene.run(["log", "job", "--run", run.id])
    #expect(try Data(contentsOf: URL(filePath: copied.outputPath)) == bytes)
    let window = try scene.show(["log", "job"])
    window.keepTranscript()
    #expect(window.waitForEnd() == .status(0))
    let transcript = try #require(window.transcript)
    #expect(transcript.allSatisfy { $0 >= 0x20 || $0 == 0x0A || $0 == 0x0D })
    #expect(String(decoding: transcript, as: UTF8.self).contains("ä·end"))
    let ascii = try scene.run(["log", "job", "--ascii"])
    #expect(ascii.output == ".[2J?\n?.end")
  }

  @Test("RD-9: log -f waits for the start, follows into the next attempt, and ends with the job")
  func following() throws {
    let scene = try StoredRunScene(
      """
        held: {run: 'echo held > "$DIR/ran"; \(StoredRunScene.hold())'}
        late:
          run: |
            echo "begin $OPQ_ATTEMPT"
            \(StoredRunScene.hold("part$OPQ_ATTEMPT"))
            echo "end $OPQ_ATTEMPT"
            test "$OPQ_ATTEMPT" = 2
          needs: [held]
          retries: 1
          retry-pause: 1ms
        other: {run: '\(StoredRunScene.hold("other"))'}
      """)
    let runner = try scene.start(["run", "--batch", "-j2", scene.file])
    #expect(scene.wait(for: "held", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    let log = try scene.start(["log", "late", "-f", "--run", run.id])
    let first = try scene.start(["log", "late", "-f", "--attempt", "1", "--run", run.id])
    try scene.open()
    #expect(scene.wait { log.output == "begin 1\n" }, "\(log.errors)")
    try scene.open("part1")
    #expect(scene.wait { log.output == "begin 1\nend 1\nbegin 2\n" }, "\(log.output)")
    #expect(first.end() == .status(0) && first.output == "begin 1\nend 1\n", "\(first.errors)")
    try scene.open("part2")
    // The run has not ended.
    #expect(log.end() == .status(0) && log.errors.isEmpty)
    #expect(log.output == "begin 1\nend 1\nbegin 2\nend 2\n")
    try scene.open("other")
    #expect(runner.end() == .status(0))
  }

  @Test("RD-9: log -f prints an output of 100 MB completely, within 64 MB of memory")
  func hugeOutput() throws {
    let scene = try StoredRunScene(
      """
        big:
          run: |
            yes some words of a line | head -c 60000000
            touch "$DIR/half"
            \(StoredRunScene.hold())
            yes other words of a line | head -c 40000000
            printf "the end"
      """)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { !scene.runs.isEmpty }, "\(runner.errors)")
    let run = try scene.onlyRun()
    let log = try scene.start(["log", "big", "-f", "--run", run.id])
    #expect(scene.wait { size(of: log.outputPath) == 60_000_000 }, "\(log.errors)")
    let process = try #require(log.window.child)
    var memory = ProcessStatus.amount("VmHWM", of: process) ?? 0
    try scene.open()
    let last = try scene.start(["log", "big", "-f", "--run", run.id])
    #expect(
      scene.wait {
        memory = ProcessStatus.amount("VmHWM", of: process) ?? memory
        return size(of: log.outputPath) >= 90_000_000
      })
    #expect(log.end() == .status(0) && log.errors.isEmpty, "\(log.errors)")
    #expect(last.end() == .status(0) && runner.end() == .status(0))
    #expect(memory > 0 && memory < Self.memoryLimit, "\(memory) KiB")
    let base = try #require(run.base(of: "big"))
    let whole = try Data(contentsOf: URL(filePath: run.file("\(base).log")))
    #expect(whole.count == 100_000_007)
    for path in [log.outputPath, last.outputPath] {
      #expect(try Data(contentsOf: URL(filePath: path)) == whole)
    }
  }

  @Test(
    "RD-9: log -f follows a command whose runner was killed, and then says that the run is interrupted"
  )
  func killedRunner() throws {
    let scene = try StoredRunScene(
      """
        held: {run: 'echo begin; echo > "$DIR/ran"; \(StoredRunScene.hold()); echo end'}
        next: {run: 'echo next', needs: [held]}
      """)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "\n", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    let held = try scene.start(["log", "held", "-f", "--run", run.id])
    let next = try scene.start(["log", "next", "-f", "--run", run.id])
    #expect(scene.wait { held.output == "begin\n" }, "\(held.errors)")
    runner.kill()
    #expect(next.end() == .status(1) && next.output.isEmpty)
    next.expectSentence("interrupted before next ended", "opq-top run --resume \(run.id)")
    try scene.open()
    #expect(held.end() == .status(1) && held.output == "begin\nend\n")
    held.expectSentence("interrupted before held ended", "opq-top run --resume \(run.id)")
    // Without -f, the output that is there is enough.
    #expect(try scene.run(["log", "held"]).ending == .status(0))
    let attempt = try scene.run(["log", "held", "-f", "--attempt", "1"])
    #expect(attempt.ending == .status(1) && attempt.output == "begin\nend\n")
    attempt.expectSentence("interrupted before attempt 1 of held ended")
  }

  @Test("RD-9: log -f waits for the runner of a new run. Other commands say that it is starting")
  func startingRun() throws {
    let scene = try finishedScene("  only: {run: 'echo printed'}")
    let run = try scene.onlyRun()
    let base = try #require(run.base(of: "only"))
    // The state before the runner has begun.
    for name in ["log", "status"] {
      try FileManager.default.removeItem(atPath: run.file("\(base).\(name)"))
    }
    try "".write(toFile: run.file("journal.jsonl"), atomically: true, encoding: .utf8)
    let log = try scene.start(["log", "only", "-f", "--run", run.id])
    #expect(try scene.run(["runs"]).output.contains("\(run.id)  starting "))
    let other = try scene.run(["why", "only", "--run", run.id])
    #expect(other.ending == .status(3) && other.output.isEmpty)
    other.expectSentence("the run \(run.id) is starting")
    #expect(StoredRunScene.isAlive(try #require(log.window.child)), "\(log.errors)")
    #expect(try scene.run(["run", "--resume", "--batch", run.id]).ending == .status(0))
    #expect(log.end() == .status(0) && log.output == "printed\n", "\(log.errors)")
  }

  @Test("RD-9: A file of the output that cannot be read is one sentence, and the status is 1")
  func unreadableOutput() throws {
    let scene = try finishedScene("  only: {run: 'echo printed'}")
    let run = try scene.onlyRun()
    let base = try #require(run.base(of: "only"))
    try FileManager.default.removeItem(atPath: run.file("\(base).log"))
    try FileManager.default.createDirectory(
      atPath: run.file("\(base).log"), withIntermediateDirectories: false)
    let log = try scene.run(["log", "only"])
    #expect(log.ending == .status(1) && log.output.isEmpty)
    log.expectSentence("cannot read \(run.file("\(base).log"))", "Is a directory")
  }

  @Test("RD-9: A signal ends log -f by that signal")
  func signal() throws {
    let scene = try StoredRunScene("  held: {run: 'echo begin; \(StoredRunScene.hold())'}")
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { !scene.runs.isEmpty }, "\(runner.errors)")
    let log = try scene.start(["log", "held", "-f", "--run", try scene.onlyRun().id])
    #expect(scene.wait { log.output == "begin\n" }, "\(log.errors)")
    log.window.signal(SIGTERM)
    #expect(log.end() == .signal(SIGTERM))
    try scene.open()
    #expect(runner.end() == .status(0))
  }

  private func size(of path: String) -> Int {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
  }
}
