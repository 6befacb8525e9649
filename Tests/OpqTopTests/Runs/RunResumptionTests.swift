// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Testing

@testable import JobRun
@testable import OpqTop

@Suite("The choice of the run that is resumed") struct RunResumptionTests {
  private typealias Files = StoredFiles

  /// Runs in one place, the oldest one first.
  private struct Scene {
    let files: StoredFiles
    let runs: [RunDirectory]
    let place: RunPlaceOptions

    init(count: Int) throws {
      let files = try StoredFiles()
      let others = try (1..<count).map { minute in
        try StoredFiles.create(
          ["job"], in: files.state,
          created: 1_800_000_000_000_000_000 + Int64(minute) * 60_000_000_000)
      }
      self.files = files
      runs = [files.directory] + others
      place = try RunPlaceOptions.parse(["--state", files.state])
    }

    func append(_ records: [JournalRecord], to run: RunDirectory) throws {
      try files.append(records.map(\.line).joined(), to: run.journal)
    }

    func chosen() throws -> RunDirectory { try FoundRun(nil, resumedIn: place).directory }
  }

  @Test("RD-4: No living, finished or damaged run hides the newest interrupted one")
  func hiddenRun() throws {
    let scene = try Scene(count: 5)
    for run in scene.runs[...1] { try scene.append([.runner(), Files.start()], to: run) }
    try scene.append([.runner(), Files.end(), .finish()], to: scene.runs[2])
    let lock = try RunLock.take(scene.runs[3])
    try scene.files.append("damaged\n", to: scene.runs[4].journal)
    #expect(try scene.chosen() == scene.runs[1])
    lock.release()
    #expect(try scene.chosen() == scene.runs[3])
  }

  @Test("RD-4: A run that a signal has ended is newer than one whose runner was killed")
  func endedRun() throws {
    let scene = try Scene(count: 2)
    try scene.append([.runner(), Files.start()], to: scene.runs[0])
    let cancelled = Files.end("job", .cancelled, byRun: true)
    try scene.append([.runner(), Files.start(), cancelled, .finish()], to: scene.runs[1])
    #expect(try scene.chosen() == scene.runs[1])
    try scene.append([.runner(), Files.end(attempts: 2), .finish()], to: scene.runs[1])
    #expect(try scene.chosen() == scene.runs[0])
  }

  @Test("RD-4: Without an interrupted run, the newest one is resumed")
  func newestRun() throws {
    let scene = try Scene(count: 2)
    for run in scene.runs { try scene.append([.runner(), Files.end(), .finish()], to: run) }
    #expect(try scene.chosen() == scene.runs[1])
    let starting = try StoredFiles.create(["job"], in: scene.files.state, created: Files.now)
    #expect(RunCatalog.summary(of: starting).state == .starting)
    #expect(try scene.chosen() == scene.runs[1])
  }

  @Test(
    "RD-5: The option --retry of run is refused, because it has an effect only for a runner",
    arguments: [["--resume", "--retry", "job"], ["jobs.yaml", "--retry=job"]])
  func retryOption(words: [String]) throws {
    let error = #expect(throws: (any Error).self) { try RunCommand.parse(words) }
    #expect(error.map { RunCommand.message(for: $0) }?.contains("\"opq-top retry\"") == true)
    let runner = try RunCommand.parse(["--resume", "--runner", "/run", "--retry=job"])
    #expect(runner.internals.retrying == ["job"])
  }

  @Test("RD-4: A sentence names the run that is resumed, and its job file")
  func sentence() throws {
    let scene = try Scene(count: 1)
    let run = try FoundRun(nil, resumedIn: scene.place)
    #expect(run.resumeSentence == "resuming run \(run.directory.id) (jobs.yaml)")
  }
}
