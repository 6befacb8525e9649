// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCore
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("A journal that cannot be written", .timeLimit(.minutes(5)), .onOwnThread)
struct JournalFailureTests {
  /// A disk that is full from a moment on.
  private struct FullDisk {
    let isFull = Monitored(false)

    var disk: RunDisk {
      var disk = RunDisk.system
      let write = disk.write
      disk.write = { [isFull] in isFull.value ? ENOSPC : write($0, $1, $2) }
      return disk
    }
  }

  @Test("RD-6: If the journal cannot be written before the first start, no job runs")
  func beforeStart() throws {
    let scene = try RunScene()
    let disk = FullDisk()
    let run = try scene.run(
      scene.plan(
        """
          first: {run: 'echo first >> "$DIR/ran"'}
          second: {run: 'echo second >> "$DIR/ran"', needs: [first]}
          last: {run: 'echo last >> "$DIR/ran"', needs: [second], when: always}
        """), disk: disk.disk)
    disk.isFull.change { $0 = true }
    run.start()
    run.waitForEnd()
    #expect(scene.words("ran").isEmpty)
    #expect(run.states.filter { $0.hasSuffix("succeeded") || $0.hasSuffix("failed") }.isEmpty)
    #expect(run.run.counts.total == 3 && run.run.counts.harmfulCount == 3)
    let failure = try #require(run.run.journalFailure)
    #expect(failure.description.contains("No space left on device"))
    #expect(
      run.outcome("first")?.sentence(for: "first") == "first was cancelled: \(failure)")
    #expect(run.events.count { $0 == .journalFailed(reason: failure.description) } == 1)
    #expect(!run.events.contains { if case .started = $0 { true } else { false } })
    #expect(throws: failure) { try run.run.retry(["first"]) }
  }

  @Test(
    "RD-6: If the journal cannot be written, commands that run end by themselves, and no job starts"
  )
  func afterEnd() throws {
    let scene = try RunScene()
    let disk = FullDisk()
    let jobs = """
        first: {run: 'echo x >> "$DIR/first"; until test -e "$DIR/go"; do sleep 0.01; done'}
        long: {run: 'echo x >> "$DIR/long"; until test -e "$DIR/end"; do sleep 0.01; done; echo done'}
        again: {run: 'echo x >> "$DIR/again"; exit 1', retries: 3, retry-pause: 1h}
        next: {run: 'echo x >> "$DIR/next"', needs: [first]}
        last: {run: 'echo x >> "$DIR/last"', needs: [long], when: always}
      """
    let run = try scene.run(scene.plan(jobs), disk: disk.disk)
    run.start()
    for name in ["first", "long", "again"] { scene.waitForWords(1, in: name) }
    // The first attempt has ended, and the job waits for the next one.
    let isWaiting = poll(for: .seconds(60), pausing: true) {
      run.run.state.withLock { $0.jobs[2].map { $0.currentAttempt == nil } ?? false }
    }
    #expect(isWaiting)
    disk.isFull.change { $0 = true }
    scene.touch("go")
    #expect(poll(for: .seconds(60), pausing: true) { run.run.journalFailure != nil })
    scene.touch("end")
    run.waitForEnd()
    #expect(
      run.states == [
        "first succeeded", "long succeeded", "again cancelled", "next cancelled", "last cancelled",
      ])
    #expect(run.outcome("long")?.lastLine == "done")
    #expect(scene.words("next").isEmpty && scene.words("last").isEmpty)
    #expect(scene.words("again").count == 1)
    run.endRunner()
    // What was recorded remains, and the exit statuses of the other commands are on the disk.
    let resumed = try scene.resumed(
      run.run.directory, scene.plan(jobs.split(separator: "1h").joined(separator: "1ms")))
    resumed.start()
    resumed.waitForEnd()
    #expect(resumed.outcome("long")?.state == .succeeded && scene.words("long").count == 1)
    #expect(resumed.outcome("first")?.state == .succeeded && scene.words("first").count == 1)
    #expect(scene.words("next").count == 1 && scene.words("last").count == 1)
  }

  @Test("RD-6: If the journal of a resume cannot be written, the command of a job continues")
  func adoptedCommand() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        held: {run: 'echo x >> "$DIR/held"; until test -e "$DIR/go"; do sleep 0.01; done'}
        next: {run: 'echo x >> "$DIR/next"', needs: [held], when: always}
      """)
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(1, in: "held")
    run.endRunner()
    let disk = FullDisk()
    disk.isFull.change { $0 = true }
    let next = try scene.resumed(run.run.directory, plan, disk: disk.disk)
    next.start()
    #expect(poll(for: .seconds(60), pausing: true) { next.run.journalFailure != nil })
    scene.touch("go")
    next.waitForEnd()
    #expect(next.states == ["held succeeded", "next cancelled"])
    #expect(scene.words("held").count == 1 && scene.words("next").isEmpty)
    run.waitForEnd()
  }

  @Test("RD-6: If only the last records cannot be written, the run knows it at the end")
  func lastRecords() throws {
    let scene = try RunScene()
    let disk = FullDisk()
    let run = try scene.run(
      scene.plan(
        #"  job: {run: 'echo x > "$DIR/job"; until test -e "$DIR/go"; do sleep 0.01; done'}"#),
      disk: disk.disk)
    run.start()
    scene.waitForWords(1, in: "job")
    disk.isFull.change { $0 = true }
    scene.touch("go")
    run.waitForEnd()
    run.journal.close()
    let failure = try #require(run.run.journalFailure)
    #expect(failure.description.contains("No space left on device"))
    let events = run.events + run.run.takeEvents()
    #expect(events.count { $0 == .journalFailed(reason: failure.description) } == 1)
    #expect(run.states == ["job succeeded"] && run.run.counts.harmfulCount == 0)
  }
}
