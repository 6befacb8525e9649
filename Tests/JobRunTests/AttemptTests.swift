// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Attempts of jobs", .timeLimit(.minutes(5)), .onOwnThread)
struct AttemptTests {
  @Test("JR-7: At most as many jobs as the width of their queue run at once")
  func widthIsKept() throws {
    let scene = try RunScene()
    // Each job writes a line with its times in nanoseconds.
    let run = try scene.finished(
      """
        job:
          run: 'begin=$(date +%s%N); sleep 0.05; echo "$begin $(date +%s%N)" >> "$DIR/times"'
          each: {N: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
          queue: narrow
      """, head: "queues: {narrow: {width: 2}}")
    #expect(run.run.counts.text == "20 jobs: 20 succeeded")
    let times = scene.words("times").compactMap { Int($0) }
    #expect(times.count == 40)
    let starts = stride(from: 0, to: times.count, by: 2).map { times[$0] }
    let ends = stride(from: 1, to: times.count, by: 2).map { times[$0] }
    for start in starts {
      let running = zip(starts, ends).count { $0 <= start && start < $1 }
      #expect(running <= 2)
    }
  }

  @Test("JR-7: A rate limits the starts in each second")
  func rateIsKept() throws {
    let scene = try RunScene()
    let begin = ContinuousClock.now
    let run = try scene.finished(
      "  job: {run: 'true', each: {N: [1, 2, 3, 4, 5]}, queue: slow}",
      head: "queues: {slow: {width: 5, rate: 4}}")
    #expect(run.run.counts.text == "5 jobs: 5 succeeded")
    #expect(begin.duration(to: .now) >= .seconds(1))
  }

  @Test("JR-8: An attempt that takes longer than the timeout is ended, and counts as failed")
  func timeoutEndsAttempt() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        slow:
          run: 'echo waiting; echo "$OPQ_ATTEMPT" >> "$DIR/attempts"; exec sleep 600'
          timeout: 2s
          grace: 1s
          retries: 1
          retry-pause: 1ms
      """)
    let outcome = try #require(run.outcome("slow"))
    #expect(outcome.state == .failed && outcome.attemptCount == 2 && outcome.exitStatus == nil)
    #expect(outcome.reason == "an attempt took longer than 2.00s: waiting")
    #expect(scene.words("attempts") == ["1", "2"])
  }

  @Test("JR-9: A failed attempt is repeated, and each attempt has a log of its own")
  func retriesHaveLogs() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        flaky:
          run: 'echo "attempt $OPQ_ATTEMPT"; test "$OPQ_ATTEMPT" = 3'
          retries: 5
          retry-pause: 1ms
      """)
    let outcome = try #require(run.outcome("flaky"))
    #expect(outcome.state == .succeeded && outcome.attemptCount == 3)
    #expect(outcome.lastLine == "attempt 3")
    for attempt in 1...3 {
      #expect(RunScene.contents(run.log(0, attempt: attempt)) == "attempt \(attempt)\n")
    }
    let reasons = (1...2).map { "exit status 1: attempt \($0)" }
    #expect(
      run.events.dropLast() == [
        .started(0, attempt: 1), .retried(0, attempt: 1, reason: reasons[0]),
        .started(0, attempt: 2), .retried(0, attempt: 2, reason: reasons[1]),
        .started(0, attempt: 3),
      ])
  }

  @Test("JR-9: The retry pause is between the attempts")
  func pauseIsKept() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      "  job: {run: 'date +%s%N >> \"$DIR/times\"; exit 1', retries: 1, retry-pause: 300ms}")
    #expect(run.outcome("job")?.attemptCount == 2)
    let times = scene.words("times").compactMap { Int($0) }
    #expect(times.count == 2 && times[1] - times[0] >= 300_000_000)
  }

  @Test("JR-6: The command has the grace period of its job")
  func graceIsThatOfJob() throws {
    let scene = try RunScene()
    let plan = try scene.plan("  job: {run: 'true', grace: 1234ms}\n  other: {run: 'true'}")
    let commands = JobCommands(
      plan: plan, directory: RunDirectory(path: "/none"), programs: try ShimPrograms.find(),
      gracePeriods: GracePeriods(), workingDirectory: nil)
    let periods = [0, 1].map { commands.command(for: 1, of: $0, result: "").gracePeriod }
    #expect(periods == [.milliseconds(1234), .seconds(10)])
  }

  @Test("JR-21: One line names the file with the output, also if several threads note the end")
  func raceOfEnds() throws {
    let scene = try RunScene()
    for round in 0..<50 {
      let go = scene.directory.file("go\(round)")
      let command = "until test -e \"$DIR/go\(round)\"; do sleep 0.002; done; seq 2000"
      let run = try scene.run(scene.plan("  long: {run: '\(command)'}"))
      run.start()
      let operation = try #require(run.run.state.withLock { $0.jobs[0]?.operation })
      let jobs = run.run
      // All threads wait for the end before the command can end.
      onThreads(4) { thread in
        if thread == 0 { close(creat(go, 0o600)) }
        while !operation.isFinished {}
        jobs.noteEnd(of: 0)
      }
      run.waitForEnd()
      let lines = OperationLogStore.shared.lines(
        of: .operations([operation.id]), in: 1...UInt64.max)
      #expect(lines.flatMap(\.lines).count { $0.text.contains("the whole output is in") } == 1)
    }
  }

  @Test("JR-9: A job that must not run twice is not repeated after a failure")
  func onceIsNotRepeated() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      "  deploy: {run: 'echo ran >> \"$DIR/ran\"; exit 1', once: true, retries: 3, retry-pause: 1ms}"
    )
    #expect(run.outcome("deploy")?.attemptCount == 1 && scene.words("ran") == ["ran"])
  }

  @Test("JR-7: Of the jobs that can start, those with a higher priority start first")
  func prioritiesDecide() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        low: {run: 'echo low >> "$DIR/order"', priority: low}
        normal: {run: 'echo normal >> "$DIR/order"'}
        highest: {run: 'echo highest >> "$DIR/order"', priority: very-high}
        high: {run: 'echo high >> "$DIR/order"', priority: high}
      """, head: "queues: {default: {width: 1}}")
    #expect(run.run.counts.text == "4 jobs: 4 succeeded")
    #expect(scene.words("order") == ["highest", "high", "normal", "low"])
  }

  @Test("JR-10: The shell of a job interprets its command")
  func shellOfJob() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        default: {run: 'echo "${BASH_VERSION+bash}" > "$DIR/default"', shell: /bin/sh}
        other: {run: 'words=(one two); echo "${words[1]}" > "$DIR/other"', shell: /bin/bash}
      """)
    #expect(run.run.counts.text == "2 jobs: 2 succeeded")
    #expect(scene.words("other") == ["two"])
  }

  @Test("JR-10: A job has the environment of the file, its variables and those of the run")
  func environment() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        show:
          run: 'echo "$OPQ_JOB $OPQ_RUN $OPQ_ATTEMPT $WORD ${OPQ_RESULT-none}" > "$DIR/$WORD"'
          each: {WORD: [no, '012']}
      """)
    let runID = run.run.directory.id
    #expect(scene.words("no") == ["show[no]", runID, "1", "no", "none"])
    #expect(scene.words("012") == ["show[012]", runID, "1", "012", "none"])
  }

  @Test("JR-11: Names and output with any characters are harmless")
  func hostileNamesAndOutput() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      #"""
        job:
          run: 'printf "\033]0;x\007\033[2J\377\n"; exit 1'
          each: {WORD: ['../../../../tmp/x', '`touch pwned`', '; rm -rf /', 'é 👩‍👩‍👧‍👦 "']}
      """#)
    #expect(run.run.counts.text == "4 jobs: 4 failed")
    for (index, job) in run.run.plan.jobs.enumerated() {
      let outcome = try #require(run.run.outcomes[index])
      let sentence = outcome.sentence(for: job.id)
      #expect(sentence.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
      // The bytes are in the log, which is inside the directory.
      let log = run.log(index, attempt: 1)
      #expect(RunScene.contents(log).hasPrefix("\u{1B}]0;x\u{7}\u{1B}[2J"))
      #expect(log.dropFirst(run.run.directory.jobs.count + 1).allSatisfy { $0 != "/" })
    }
  }

  @Test("JR-11: A program that does not exist, and a shell that does not exist, are one sentence")
  func missingPrograms() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        program: {run: 'exec /none/program'}
        shell: {run: 'true', shell: /none/shell}
      """)
    #expect(run.states == ["program failed", "shell failed"])
    #expect(run.outcome("program")?.exitStatus == 127)
    #expect(run.outcome("shell")?.exitStatus == 127)
    #expect(run.outcome("shell")?.reason?.contains("/none/shell") == true)
  }

  @Test("JR-12: A log that the directory cannot take is one sentence for each job")
  func logCannotBeWritten() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan("  one: {run: 'echo hello'}\n  two: {run: 'true', needs: [one]}"))
    #expect(rmdir(run.run.directory.jobs) == 0)
    run.start()
    run.waitForEnd()
    #expect(run.states == ["one failed", "two skipped"])
    #expect(run.outcome("one")?.reason?.contains("cannot be opened: No such file") == true)
  }
}
