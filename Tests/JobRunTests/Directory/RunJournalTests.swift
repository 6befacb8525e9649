// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The journal of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct RunJournalTests {
  /// Returns the record of the start of a job.
  static func start(_ number: Int) -> JournalRecord {
    .start("job-\(number)", attempt: 1, files: "\(number)-job.1", definition: "0123456789abcdef")
  }

  @Test("RD-1: After the journal is closed, it contains all records in their order")
  func order() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let journal = try RunJournal(appendingTo: run)
    let records = (0..<1_000).map { Self.start($0) }
    for record in records { journal.append(record) }
    journal.close()
    #expect(try run.records() == records)
    #expect(journal.failure == nil)
  }

  @Test("RD-1: Records that are due at the same moment share one write and one sync")
  func sharedSync() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let (gate, calls) = (Gate(), FaultyDisk())
    var disk = calls.disk()
    let sync = disk.sync
    disk.sync = { file in
      gate.pass()
      return sync(file)
    }
    let journal = try RunJournal(appendingTo: run, disk: disk)
    journal.append(Self.start(0))
    gate.waitForArrivals(1)
    // These records are appended during the first sync.
    for number in 1...100 { journal.append(Self.start(number)) }
    gate.open()
    journal.close()
    #expect(calls.count(.write) == 2 && calls.count(.sync) == 2)
    #expect(try RunHistory.read(run).jobs.count == 101)
  }

  @Test("RD-1: A task that waits for a record continues after the sync, and not before")
  func waitsForSync() async throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let (gate, isSynced) = (Gate(), Monitored(false))
    var disk = RunDisk.system
    disk.sync = { file in
      gate.pass()
      let error = RunDisk.system.sync(file)
      isSynced.change { $0 = true }
      return error
    }
    let journal = try RunJournal(appendingTo: run, disk: disk)
    let task = Task {
      try await journal.appendAndSync(Self.start(1))
      return isSynced.value
    }
    gate.waitForArrivals(1)
    // The record is in the file, and it is not on the disk.
    #expect(try RunHistory.read(run).jobs.count == 1)
    gate.open()
    #expect(try await task.value)
    journal.close()
  }

  @Test("RD-1: A task can wait for all records without a record of its own")
  func flush() async throws {
    let scene = try DirectoryScene()
    let calls = FaultyDisk()
    let gate = Gate()
    var disk = calls.disk()
    let sync = disk.sync
    disk.sync = { file in
      gate.pass()
      return sync(file)
    }
    let journal = try RunJournal(appendingTo: try scene.run(), disk: disk)
    #expect(await journal.flush() == nil)
    #expect(calls.count(.write) == 0 && calls.count(.sync) == 0)
    journal.append(Self.start(1))
    let task = Task { (await journal.flush(), calls.count(.sync)) }
    gate.waitForArrivals(1)
    gate.open()
    #expect(await task.value == (nil, 1))
    #expect(calls.count(.write) == 1)
    journal.close()
    #expect(await journal.flush() != nil)
  }

  @Test("RD-6: A task that waits for all records learns why they cannot be written")
  func failedFlush() async throws {
    let scene = try DirectoryScene()
    var disk = RunDisk.system
    disk.write = { _, _, _ in ENOSPC }
    let journal = try RunJournal(appendingTo: try scene.run(), disk: disk)
    journal.append(Self.start(1))
    let failure = await journal.flush()
    #expect(failure != nil && failure == journal.failure)
    journal.close()
  }

  @Test("RD-1: Tasks that wait for records at the same time share syncs")
  func manyTasks() async throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let calls = FaultyDisk()
    let (gate, count) = (Gate(), 50)
    var disk = calls.disk()
    let sync = disk.sync
    disk.sync = { file in
      gate.pass()
      return sync(file)
    }
    let journal = try RunJournal(appendingTo: run, disk: disk)
    journal.append(Self.start(0))
    gate.waitForArrivals(1)
    let begun = Monitored(0)
    try await withThrowingTaskGroup { group in
      for number in 1...count {
        group.addTask {
          begun.change { $0 += 1 }
          try await journal.appendAndSync(Self.start(number))
        }
      }
      begun.wait(for: "all tasks to begin") { $0 == count }
      gate.open()
      try await group.waitForAll()
    }
    journal.close()
    #expect(try RunHistory.read(run).jobs.count == count + 1)
    // A task that has begun may append its record only after the first sync.
    #expect(calls.count(.sync) == calls.count(.write) && calls.count(.sync) <= count + 1)
  }

  @Test("RD-1: A runner appends to the records of earlier runners")
  func secondRunner() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    for number in 0..<3 {
      let journal = try RunJournal(appendingTo: run)
      journal.append(Self.start(number))
      journal.close()
    }
    #expect(try run.records().map(\.job) == ["job-0", "job-1", "job-2"])
  }

  @Test("RD-1: A journal that is released without being closed contains all records")
  func released() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    do {
      let journal = try RunJournal(appendingTo: run)
      for number in 0..<100 { journal.append(Self.start(number)) }
    }
    #expect(
      poll(for: .seconds(60), pausing: true) {
        (try? RunHistory.read(run).jobs.count) == 100
      })
  }

  @Test("RD-1: After the journal is closed, records are refused")
  func closed() async throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let journal = try RunJournal(appendingTo: run)
    journal.append(Self.start(1))
    journal.close()
    journal.close()
    journal.append(Self.start(2))
    let failure = await #expect(throws: RunFailure.self) {
      try await journal.appendAndSync(Self.start(3))
    }
    #expect(failure?.description == "the journal \(run.journal) was closed")
    #expect(try RunHistory.read(run).jobs.count == 1)
  }

  @Test("RD-1: A closed journal contains the records of all threads that have appended before")
  func closedByAnotherThread() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    for round in 1...Effort.scaled(500) {
      let journal = try RunJournal(appendingTo: run)
      onThreads(2) { journal.append(Self.start($0)) }
      journal.close()
      #expect(try run.records().count == 2 * round)
    }
  }

  @Test("RD-1: A record takes little time", .oneAtATime)
  func speed() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let journal = try RunJournal(appendingTo: run)
    let count = Effort.scaled(100_000)
    let begin = ContinuousClock.now
    for number in 0..<count { journal.append(Self.start(number)) }
    journal.close()
    let write = begin.duration(to: .now) / count
    let history = try RunHistory.read(run)
    let each = begin.duration(to: .now) / count
    #expect(history.jobs.count == count)
    // On an idle machine, a record takes a few microseconds with optimization, and about ten times as much without.
    #expect(write < .milliseconds(1) && each < .milliseconds(2))
  }
}
