// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import RunAnalysis
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Lists of runs") struct RunListingTests {
  /// The time at which the lists are made, in nanoseconds since 1970.
  static let now: Int64 = 1_800_000_100_000_000_000

  /// Returns a run that began a number of seconds ago.
  static func run(
    _ id: String, _ state: RunState, age: Int64 = 0, title: String = "jobs.yaml",
    file: String? = "/project/jobs.yaml", _ outcomes: JobOutcome.State...
  ) -> RunSummary {
    var counts = JobCounts()
    for state in outcomes {
      counts.add(
        JobOutcome(
          state: state, attemptCount: 1, exitStatus: nil, origin: nil, reason: nil, lastLine: nil,
          duration: nil, isUnneeded: false))
    }
    return RunSummary(
      directory: RunDirectory(path: "/project/.opq/runs/\(id)"), state: state, counts: counts,
      jobCount: outcomes.count + 1, created: now - age * 1_000_000_000, title: title, file: file)
  }

  private static let runs = [
    run("20270115-080000-aaaa", .damaged(RunFailure("the file x is damaged")), age: 90_000),
    run(
      "20270115-090000-bbbb", .finished, age: 3_700, title: "standard input", file: nil,
      .succeeded, .failed, .skipped, .cancelled, .succeeded),
    run("20270115-100000-cccc", .interrupted, age: 61, title: "e\u{1B}[2Jvil.yaml"),
    run("20270115-110000-dddd", .running(process: 4_711), .succeeded),
    run("20270115-110000-eeee", .running(process: 0), age: -5),
    run("20270115-110001-ffff", .shown(process: 4_712), age: 1),
    run("20270115-110001-gggg", .starting, age: 1),
  ]

  @Test("RD-8: Each run is a line with its state, its process, its counts, its age and its file")
  func table() {
    #expect(
      RunTable.text(of: Self.runs, at: Self.now) == """
        ID                    STATE             PID  JOBS  SUCCEEDED  FAILED  SKIPPED  CANCELLED    AGE  FILE
        20270115-080000-aaaa  damaged             -     -          -       -        -          -  1d01h  the file x is damaged
        20270115-090000-bbbb  finished            -     6          2       1        1          1  1h01m  standard input
        20270115-100000-cccc  interrupted         -     1          0       0        0          0  1m01s  e·[2Jvil.yaml
        20270115-110000-dddd  running          4711     2          1       0        0          0    0ms  jobs.yaml
        20270115-110000-eeee  running             -     1          0       0        0          0    0ms  jobs.yaml
        20270115-110001-ffff  finished, shown  4712     1          0       0        0          0  1.00s  jobs.yaml
        20270115-110001-gggg  starting            -     1          0       0        0          0  1.00s  jobs.yaml

        """)
  }

  @Test("RD-8: A list in ASCII has no other characters")
  func tableInASCII() {
    let text = RunTable.text(of: Self.runs, at: Self.now, isUnicode: false)
    #expect(text.allSatisfy(\.isASCII) && text.contains("vil.yaml"))
  }

  @Test("RD-8: In JSON, a run that a viewer shows has finished and has a process")
  func shownRunInJSON() {
    let text = JSONLine.text(of: RunListing(Array(Self.runs.suffix(2)), at: Self.now))
    #expect(text.contains(#""process":4712,"state":"finished""#))
    #expect(text.contains(#""state":"starting""#))
  }

  @Test("RD-8: The list as JSON has the documented keys, and no others")
  func json() {
    let runs = [Self.runs[0], Self.runs[1], Self.runs[3]]
    #expect(
      JSONLine.text(of: RunListing(runs, at: Self.now)) == """
        {"runs":[{"ageSeconds":90000,"counts":{"cancelled":0,"failed":0,"skipped":0,"succeeded":0},\
        "createdSecondsSince1970":1799910100,"directory":"/project/.opq/runs/20270115-080000-aaaa",\
        "error":"the file x is damaged","file":"/project/jobs.yaml","id":"20270115-080000-aaaa",\
        "jobCount":1,"state":"damaged","title":"jobs.yaml"},\
        {"ageSeconds":3700,"counts":{"cancelled":1,"failed":1,"skipped":1,"succeeded":2},\
        "createdSecondsSince1970":1799996400,"directory":"/project/.opq/runs/20270115-090000-bbbb",\
        "id":"20270115-090000-bbbb","jobCount":6,"state":"finished","title":"standard input"},\
        {"ageSeconds":0,"counts":{"cancelled":0,"failed":0,"skipped":0,"succeeded":1},\
        "createdSecondsSince1970":1800000100,"directory":"/project/.opq/runs/20270115-110000-dddd",\
        "file":"/project/jobs.yaml","id":"20270115-110000-dddd","jobCount":2,"process":4711,\
        "state":"running","title":"jobs.yaml"}],"schema":"opq.runs/1"}

        """)
    #expect(
      JSONLine.text(of: RunListing([], at: Self.now)) == "{\"runs\":[],\"schema\":\"opq.runs/1\"}\n"
    )
  }

  @Test("RD-8: A time of creation that makes no sense is harmless", arguments: [Int64.min, .max])
  func impossibleTimes(time: Int64) {
    let run = RunSummary(
      directory: RunDirectory(path: "/x"), state: .finished, counts: JobCounts(), jobCount: 0,
      created: time, title: "", file: nil)
    #expect(run.age(at: Self.now) >= .zero)
    #expect(!RunTable.text(of: [run], at: Self.now).isEmpty)
  }
}

@Suite("The choice of runs to delete") struct RunPruningTests {
  private typealias Lists = RunListingTests

  private static let runs = [
    Lists.run("20270101-000000-aaaa", .finished, age: 1_000_000),
    Lists.run("20270102-000000-bbbb", .running(process: 7), age: 900_000),
    Lists.run("20270103-000000-cccc", .interrupted, age: 800_000),
    Lists.run("20270104-000000-dddd", .interrupted, age: 700_000),
    Lists.run("20270115-000000-eeee", .damaged(RunFailure("x")), age: 61),
    Lists.run("20270115-000000-ffff", .starting, age: 59),
    Lists.run("20270115-000000-gggg", .damaged(RunFailure("x")), age: 59),
    Lists.run("20270115-000000-hhhh", .finished, age: 1),
    Lists.run("20270115-000000-iiii", .shown(process: 8), age: 1),
    Lists.run("20270115-000000-jjjj", .interrupted, age: 1),
  ]

  private func ids(_ runs: [RunSummary]) -> String {
    runs.map { $0.directory.id.suffix(1) }.joined()
  }

  @Test("RD-8: No run is deleted whose runner or command is alive, or that may be just starting")
  func choice() {
    let pruning = RunPruning(age: .zero, now: Lists.now)
    let busy = ["aaaa", "dddd", "eeee"]
    let choice = pruning.choice(from: Self.runs) { busy.contains(String($0.id.suffix(4))) }
    #expect(ids(choice.deleted) == "chj")
    #expect(
      choice.kept.map(\.sentence) == [
        "20270101-000000-aaaa is kept, because a command of it is still running",
        "20270104-000000-dddd is kept, because a command of it is still running",
        "20270115-000000-eeee is kept, because a command of it is still running",
        "20270115-000000-iiii is kept, because a dashboard still shows it",
      ])
  }

  @Test("RD-8: Newer runs than the given age are kept")
  func ages() {
    let old = RunPruning(age: .seconds(750_000), now: Lists.now)
    let choice = old.choice(from: Self.runs) { _ in false }
    #expect(ids(choice.deleted) == "ac" && choice.kept.isEmpty)
  }

  @Test("RD-8: A finished run is kept while a command of it is alive, also after the question")
  func livingCommand() throws {
    let files = try StoredFiles()
    try files.append(.runner(), StoredFiles.end(), .finish())
    let place = RunPlace(state: files.state)
    let pruning = RunPruning(age: .zero, now: 1_800_000_001_000_000_000)
    let earlier = pruning.choice(from: try RunCatalog.summaries(in: place)).deleted
    #expect(earlier.map(\.directory) == [files.directory])
    let shim = try files.lockShim()
    let choice = pruning.choice(from: try RunCatalog.summaries(in: place))
    #expect(choice.deleted.isEmpty && choice.kept.map(\.reason) == [.command])
    let result = RunPruning.delete(earlier)
    #expect(result.count == 0)
    #expect(result.failures.map(\.description).first?.contains("is still running") == true)
    #expect(flock(shim, LOCK_UN) == 0)
    close(shim)
    #expect(RunPruning.delete(earlier).count == 1)
  }

  @Test("RD-8: Runs are deleted, and a run that is locked now is a sentence")
  func deletion() throws {
    let files = try StoredFiles()
    let place = RunPlace(state: files.state)
    let other = try StoredFiles.create(["job"], in: files.state)
    let lock = try RunLock.take(files.directory)
    let result = RunPruning.delete(try RunCatalog.summaries(in: place))
    #expect(result.count == 1)
    #expect(result.failures.map(\.description).first?.contains("is already running") == true)
    #expect(try RunStore.all(in: place) == [files.directory])
    #expect(other != files.directory)
    lock.release()
  }
}
