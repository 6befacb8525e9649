// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The journal of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct JournalTests {
  @Test("RD-1: The journal of a run has each start, each failed attempt and each end in order")
  func wholeJournal() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        fetch: {run: 'echo "$OPQ_ATTEMPT"; test "$OPQ_ATTEMPT" = 2', retries: 1, retry-pause: 1ms}
        broken: {run: 'exit 7', needs: [fetch]}
        next: {run: 'true', needs: [broken]}
        alarm: {run: 'true', needs: [fetch], when: failure}
        notify: {run: 'true', needs: [next, alarm], when: always}
      """, head: "queues: {default: {width: 1}}")
    let begin = ContinuousClock.now
    let time = JobRun.Time(wall: { 1_700_000_000_000_000_000 }, instant: { begin })
    let run = try scene.run(plan, time: time)
    run.start()
    run.waitForEnd()
    run.endRunner()
    let lines = RunScene.contents(run.run.directory.journal).split(separator: "\n")
    let definitions = JobDefinition.texts(of: plan)
    let first = try #require(lines.first)
    #expect(first.contains(#""event":"runner""#) && first.hasSuffix(#","version":1}"#))
    // The alarm ends as soon as fetch has ended, at the same time as the other jobs.
    let alarm =
      #"{"attempt":0,"definition":"\#(definitions[3])","event":"end","job":"alarm","reason":"no need has failed","#
      + #""state":"skipped","time":1700000000000000000,"unneeded":true}"#
    #expect(lines.contains { $0 == alarm })
    #expect(
      lines.dropFirst().filter { $0 != alarm }.joined(separator: "\n") == """
        {"attempt":1,"definition":"\(definitions[0])","event":"start","files":"1-fetch.1","job":"fetch","time":1700000000000000000}
        {"attempt":1,"event":"attempt","job":"fetch","reason":"exit status 1: 1","status":1,"time":1700000000000000000}
        {"attempt":2,"definition":"\(definitions[0])","event":"start","files":"1-fetch.2","job":"fetch","time":1700000000000000000}
        {"attempt":2,"definition":"\(definitions[0])","duration":0,"event":"end","job":"fetch","lastLine":"2","state":"succeeded","status":0,"time":1700000000000000000}
        {"attempt":1,"definition":"\(definitions[1])","event":"start","files":"2-broken.1","job":"broken","time":1700000000000000000}
        {"attempt":1,"definition":"\(definitions[1])","duration":0,"event":"end","job":"broken","reason":"exit status 7","state":"failed","status":7,"time":1700000000000000000}
        {"attempt":0,"definition":"\(definitions[2])","event":"end","job":"next","origin":"broken","reason":"broken failed","state":"skipped","time":1700000000000000000}
        {"attempt":1,"definition":"\(definitions[4])","event":"start","files":"5-notify.1","job":"notify","time":1700000000000000000}
        {"attempt":1,"definition":"\(definitions[4])","duration":0,"event":"end","job":"notify","state":"succeeded","status":0,"time":1700000000000000000}
        {"event":"finish","time":1700000000000000000}
        """)
  }

  @Test("RD-1: The records are in the order of the needs, also if many jobs end at the same time")
  func recordsAreInOrder() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        first: {run: 'true', each: {N: [1, 2, 3, 4, 5, 6, 7, 8]}}
        second: {run: 'test "$N" != 3', needs: [first], each: {N: [1, 2, 3, 4, 5, 6, 7, 8]}}
        third: {run: 'true', needs: [second]}
        last: {run: 'true', needs: [third], when: always}
      """)
    run.endRunner()
    let records = try run.records()
    let starts = Dictionary(
      records.indices.filter { records[$0].hasPrefix("start ") }.map {
        (records[$0].split(separator: " ")[1], $0)
      }
    ) { first, _ in first }
    let ends = Dictionary(
      records.indices.filter { records[$0].hasPrefix("end ") }.map {
        (records[$0].split(separator: " ")[1], $0)
      }
    ) { first, _ in first }
    #expect(starts.count == 17 && ends.count == 18)
    for (index, job) in run.run.plan.jobs.enumerated() {
      for need in job.needs.joined() {
        // A job is skipped when the first of its needs has failed. The other needs can end later.
        guard let start = starts[Substring(job.id)] else { continue }
        let end = ends[Substring(run.run.plan.jobs[need].id)]
        #expect(try #require(end) < start, "job \(index) after \(need)")
      }
    }
    #expect(try #require(ends["second[3]"]) < #require(ends["third"]))
    #expect(records.last == "finish" && records.count { $0 == "finish" } == 1)
  }

  @Test("RD-1: A start is on the disk before the command begins")
  func startIsWrittenFirst() throws {
    let scene = try RunScene()
    let plan = try scene.plan("  job: {run: 'echo x >> \"$DIR/job\"'}")
    let (written, gate) = (Monitored(false), Gate())
    var disk = RunDisk.system
    let (write, sync) = (disk.write, disk.sync)
    disk.write = { file, bytes, size in
      let error = write(file, bytes, size)
      if String(decoding: bytes, as: UTF8.self).contains(#""event":"start""#) {
        written.change { $0 = true }
      }
      return error
    }
    disk.sync = { file in
      if written.value { gate.pass() }
      return sync(file)
    }
    let run = try scene.run(plan, disk: disk)
    run.start()
    gate.waitForArrivals(1)
    #expect(RunScene.contents(run.run.directory.journal).contains(#""event":"start""#))
    // A command that did not wait for the disk would begin in this time.
    usleep(300_000)
    #expect(scene.words("job").isEmpty && !run.run.takeEvents().contains(.started(0, attempt: 1)))
    gate.open()
    run.waitForEnd()
    #expect(scene.words("job") == ["x"])
  }

  @Test(
    "RD-1: A job that is cancelled with its run is marked, and so is a job that is skipped because of it"
  )
  func cancellationIsMarked() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          failed: {run: 'exit 1'}
          long: {run: 'echo $$ > "$DIR/long"; exec sleep 600', needs: [failed], when: failure}
          next: {run: 'true', needs: [long]}
        """))
    run.start()
    scene.waitForWords(1, in: "long")
    run.run.cancel(RunWasCancelled("the test ends it"))
    run.waitForEnd()
    run.endRunner()
    let history = try RunHistory.read(run.run.directory)
    #expect(history.jobs["failed"]?.isByRun == false)
    #expect(history.jobs["long"]?.isByRun == true && history.jobs["next"]?.isByRun == true)
    #expect(history.isFinished)
  }
}
