// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of `opq-top log --run`, which reads the output of jobs from the directory of a run.
@Suite("The output of stored runs", .timeLimit(.minutes(10)), .onOwnThread)
struct RunLogTests {
  /// The maximum memory of the program in KiB.
  private static let memoryLimit = 64 << 10

  private func size(of path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }

  @Test("RD-9: log -f follows an output of 100 MB within 64 MB of memory")
  func hugeOutput() throws {
    let size = Effort.scaled(100) * 1_000_000
    let words = "some words of a line that is repeated until the output is large"
    let scene = try StoredRunScene(
      """
        big:
          run: |
            echo first line
            \(StoredRunScene.hold("write"))
            yes '\(words)' | head -c \(size)
            echo
            echo last line
            \(StoredRunScene.hold())
      """)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { scene.runs.first?.base(of: "big") != nil }, "\(runner.errors)")
    let run = try scene.onlyRun()
    let log = run.file("\(try #require(run.base(of: "big"))).log")
    // The copy begins before the command writes.
    let copy = scene.scene.file("copy")
    let follower = try PseudoTerminal()
    try follower.start(
      "/bin/sh",
      [
        "-c", "cd \"$1\" && exec \"$0\" log -f big --run \(run.id)", BuiltProgram.path,
        scene.directory,
      ],
      environment: [MonitoredProcess.variable(scene.scene.directory)],
      redirections: [0: "/dev/null", 1: copy, 2: scene.scene.file("copy-errors")])
    #expect(scene.wait { self.size(of: copy) == "first line\n".count })
    try scene.open("write")
    let end = "first line\n".count + size + "\nlast line\n".count
    let isComplete = poll(for: .seconds(240), pausing: true) { self.size(of: copy) >= end }
    #expect(isComplete, "\(self.size(of: copy)) of \(end) bytes")
    let process = try #require(follower.child)
    let memory = try #require(ProcessStatus.amount("VmHWM", of: process))
    #expect(memory < Self.memoryLimit, "\(memory) KiB")
    // The job has not ended, so the command still follows.
    #expect(StoredRunScene.isAlive(process))
    try scene.open()
    #expect(runner.end() == .status(0))
    #expect(follower.waitForEnd() == .status(0), "\(scene.scene.contents("copy-errors"))")
    #expect(FileManager.default.contentsEqual(atPath: copy, andPath: log))
    print("log -f of \(size) bytes: \(memory) KiB")
  }

  @Test("RD-9: The output of each attempt is printed, also after the end of the runner")
  func attempts() throws {
    let scene = try StoredRunScene(
      #"""
        flaky: {run: 'echo "attempt $OPQ_ATTEMPT"; test "$OPQ_ATTEMPT" = 2', retries: 1, retry-pause: 1ms}
        silent: {run: 'true'}
        skipped: {run: 'true', needs: [broken]}
        broken: {run: 'echo "\033[2J"; exit 4'}
      """#)
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    let last = try scene.run(["log", "flaky", "--run", run.id])
    #expect(last.ending == .status(0) && last.output == "attempt 2\n", "\(last.errors)")
    let first = try scene.run(["log", "flaky", "--attempt", "1", "--run", run.id])
    #expect(first.ending == .status(0) && first.output == "attempt 1\n", "\(first.errors)")
    // The command has ended, so there is nothing to follow.
    let followed = try scene.run(["log", "-f", "flaky", "--run", run.id])
    #expect(followed.ending == .status(0) && followed.output.hasSuffix("attempt 2\n"))
    #expect(try scene.run(["log", "silent", "--run", run.id]).output == "")
    let skipped = try scene.run(["log", "skipped", "--run", run.id])
    #expect(skipped.output == "")
    skipped.expectSentence("broken")
    let unknown = try scene.run(["log", "flakx", "--run", run.id])
    #expect(unknown.ending == .status(1))
    unknown.expectSentence("did you mean \"flaky\"?")
    let none = try scene.run(["log", "flaky", "--attempt", "3", "--run", run.id])
    #expect(none.ending == .status(1))
    none.expectSentence("there is no attempt 3 of flaky; 2 attempts started")
    // On a terminal, escape sequences are text.
    let window = try scene.show(["log", "broken", "--run", run.id])
    window.keepTranscript()
    #expect(window.waitForEnd() == .status(0))
    #expect(window.transcript?.contains(0x1B) == false)
  }

  @Test("RD-9: log -f continues with the next attempt, and with a resumed run")
  func followedAttempts() throws {
    let scene = try StoredRunScene(
      """
        flaky:
          run: 'echo "attempt $OPQ_ATTEMPT"; \(StoredRunScene.hold("go$OPQ_ATTEMPT")); test "$OPQ_ATTEMPT" = 2'
          retries: 1
          retry-pause: 1ms
      """)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { scene.runs.first?.base(of: "flaky") != nil })
    let run = try scene.onlyRun()
    let follower = try scene.start(["log", "-f", "flaky", "--run", run.id])
    #expect(scene.wait { follower.output.contains("attempt 1\n") })
    runner.kill()
    let resumed = try scene.start(["run", "--resume", "--batch"])
    #expect(try scene.waitUntilExecuting("flaky", in: resumed))
    try scene.open("go1")
    #expect(scene.wait { follower.output.contains("attempt 2\n") }, "\(follower.output)")
    try scene.open("go2")
    #expect(resumed.end() == .status(0), "\(resumed.errors)")
    #expect(follower.end() == .status(0), "\(follower.errors)")
  }
}
