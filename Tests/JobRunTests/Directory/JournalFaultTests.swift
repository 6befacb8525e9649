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

@Suite("Faults of the journal", .timeLimit(.minutes(5)), .onOwnThread)
struct JournalFaultTests {
  private static func start(_ number: Int) -> JournalRecord { RunJournalTests.start(number) }

  @Test(
    "RD-6: If the journal cannot be written, one sentence says so, and nothing more is written",
    arguments: [(FaultyDisk.Call.write, ENOSPC), (.sync, EIO)])
  func failure(call: FaultyDisk.Call, error: Int32) async throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let calls = FaultyDisk()
    let disk = calls.disk(failing: call, at: 2, with: error)
    let journal = try RunJournal(appendingTo: run, disk: disk)
    try await journal.appendAndSync(Self.start(1))
    let failure = await #expect(throws: RunFailure.self) {
      try await journal.appendAndSync(Self.start(2))
    }
    let reason = String(cString: strerror(error))
    #expect(failure?.description == "cannot write the journal \(run.journal): \(reason)")
    #expect(journal.failure == failure)
    let count = calls.count(.write)
    let second = await #expect(throws: RunFailure.self) {
      try await journal.appendAndSync(Self.start(3))
    }
    journal.append(Self.start(4))
    journal.close()
    #expect(second == failure && calls.count(.write) == count)
    #expect(try RunHistory.read(run).jobs["job-1"]?.lastStart != nil)
  }

  @Test("RD-6: All tasks whose records are not on the disk get the failure of the journal")
  func allTasksFail() async throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let gate = Gate()
    var disk = RunDisk.system
    disk.write = { _, _, _ in
      gate.pass()
      return ENOSPC
    }
    let journal = try RunJournal(appendingTo: run, disk: disk)
    let count = 20
    let begun = Monitored(0)
    let failures = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<count {
        group.addTask {
          begun.change { $0 += 1 }
          do throws(RunFailure) {
            try await journal.appendAndSync(Self.start(number))
            return false
          } catch {
            return journal.failure == error
          }
        }
      }
      begun.wait(for: "all tasks to begin") { $0 == count }
      gate.open()
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == count)
  }

  @Test("RD-6: Each handler of a failure is called once, also if it is added later")
  func handlers() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let journal = try RunJournal(appendingTo: run, disk: FaultyDisk().disk(failing: .write))
    let failures = Monitored<[RunFailure]>([])
    journal.whenFailed { failure in failures.change { $0.append(failure) } }
    journal.append(Self.start(1))
    journal.close()
    #expect(failures.value.count == 1)
    journal.append(Self.start(2))
    journal.whenFailed { failure in failures.change { $0.append(failure) } }
    #expect(failures.value.count == 2 && Set(failures.value).count == 1)
  }

  @Test("RD-6: A new runner deletes an incomplete last line", arguments: [1, 100, 65_536, 200_000])
  func tornLine(length: Int) throws {
    let scene = try DirectoryScene()
    let first = Self.start(1)
    let run = try scene.run(journal: first.line + String(repeating: "{", count: length))
    #expect(try RunHistory.read(run).jobs.count == 1)
    let journal = try RunJournal(appendingTo: run)
    #expect(RunScene.contents(run.journal) == first.line)
    journal.append(Self.start(2))
    journal.close()
    #expect(try run.records().map(\.job) == ["job-1", "job-2"])
    #expect(RunScene.contents(run.journal).hasSuffix("}\n"))
  }

  @Test("RD-6: A complete journal is not changed by a new runner")
  func completeJournal() throws {
    let scene = try DirectoryScene()
    for count in [0, 1, 2_000] {
      let text = (0..<count).map { Self.start($0).line }.joined()
      let run = try scene.run(journal: text)
      try RunJournal(appendingTo: run).close()
      #expect(RunScene.contents(run.journal) == text)
    }
  }

  @Test("RD-6: A journal without a complete line becomes empty")
  func onlyTornLine() throws {
    let scene = try DirectoryScene()
    let run = try scene.run(journal: String(Self.start(1).line.dropLast()))
    #expect(try RunHistory.read(run).jobs.isEmpty)
    try RunJournal(appendingTo: run).close()
    #expect(RunScene.contents(run.journal).isEmpty)
  }

  @Test("RD-6: A missing journal is one sentence, and no journal is created")
  func missingJournal() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    #expect(unlink(run.journal) == 0)
    let opening = #expect(throws: RunFailure.self) { try RunJournal(appendingTo: run) }
    #expect(
      opening?.description
        == "cannot open the journal \(run.journal): No such file or directory")
    let reading = #expect(throws: RunFailure.self) { try RunHistory.read(run) }
    #expect(
      reading?.description == "cannot read the file \(run.journal): No such file or directory")
    #expect(DirectoryScene.permissions(run.journal) == nil)
  }

  @Test("RD-6: If the disk is full, the journal keeps its complete lines")
  func fullDiskInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let scene = try DirectoryScene()
      let run = try scene.run()
      let journal = try RunJournal(appendingTo: run)
      let earlier = DirectoryScene.limitFileSizes(4_096)
      var count = 0
      while count < 1_000, (try? await journal.appendAndSync(Self.start(count))) != nil {
        count += 1
      }
      journal.close()
      DirectoryScene.limitFileSizes(earlier)
      #expect(journal.failure?.description.hasSuffix(": File too large") == true)
      #expect(try RunHistory.read(run).jobs.count == count && (10..<100).contains(count))
      #expect(RunScene.contents(run.journal).hasSuffix("}\n"))
      // The next runner continues the journal when there is space.
      let next = try RunJournal(appendingTo: run)
      try await next.appendAndSync(Self.start(count))
      #expect(try RunHistory.read(run).jobs.count == count + 1)
    }
  }
}
