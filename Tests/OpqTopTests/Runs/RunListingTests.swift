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
  ]

  @Test("RD-8: Each run is a line with its state, its process, its counts, its age and its file")
  func table() {
    #expect(
      RunTable.text(of: Self.runs, at: Self.now) == """
        ID                    STATE         PID  JOBS  SUCCEEDED  FAILED  SKIPPED  CANCELLED    AGE  FILE
        20270115-080000-aaaa  damaged         -     -          -       -        -          -  1d01h  the file x is damaged
        20270115-090000-bbbb  finished        -     6          2       1        1          1  1h01m  standard input
        20270115-100000-cccc  interrupted     -     1          0       0        0          0  1m01s  e·[2Jvil.yaml
        20270115-110000-dddd  running      4711     2          1       0        0          0    0ms  jobs.yaml
        20270115-110000-eeee  running         -     1          0       0        0          0    0ms  jobs.yaml

        """)
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

@Suite("The choice of runs to remove") struct RunPruningTests {
  private typealias Lists = RunListingTests

  private static let runs = [
    Lists.run("20270101-000000-aaaa", .finished, age: 1_000_000),
    Lists.run("20270102-000000-bbbb", .running(process: 7), age: 900_000),
    Lists.run("20270103-000000-cccc", .interrupted, age: 800_000),
    Lists.run("20270104-000000-dddd", .interrupted, age: 700_000),
    Lists.run("20270115-000000-eeee", .damaged(RunFailure("x")), age: 61),
    Lists.run("20270115-000000-ffff", .interrupted, age: 59),
    Lists.run("20270115-000000-gggg", .damaged(RunFailure("x")), age: 59),
    Lists.run("20270115-000000-hhhh", .finished, age: 1),
  ]

  private func ids(_ runs: [RunSummary]) -> String {
    runs.map { $0.directory.id.suffix(1) }.joined()
  }

  @Test("RD-8: No run is removed whose runner or command is alive, or that may be just starting")
  func choice() {
    let pruning = RunPruning(age: .zero, now: Lists.now)
    let choice = pruning.choice(from: Self.runs) { $0.id.hasSuffix("dddd") }
    #expect(ids(choice.removed) == "aceh" && ids(choice.busy) == "d")
  }

  @Test("RD-8: Newer runs than the given age are kept")
  func ages() {
    let old = RunPruning(age: .seconds(750_000), now: Lists.now)
    let choice = old.choice(from: Self.runs) { _ in false }
    #expect(ids(choice.removed) == "ac" && choice.busy.isEmpty)
  }

  @Test("RD-8: A locked file of a shim shows that a command is alive")
  func livingShim() throws {
    let files = try StoredFiles()
    #expect(!files.directory.hasLivingShim)
    let shim = try files.lockShim()
    #expect(files.directory.hasLivingShim)
    close(shim)
    #expect(!files.directory.hasLivingShim)
  }

  @Test("RD-8: Runs are removed, and a run that is locked now is a sentence")
  func removal() throws {
    let files = try StoredFiles()
    let state = String(files.directory.path.dropLast("/runs/\(files.directory.id)".count))
    let other = try StoredFiles.create(["job"], in: state)
    let lock = try RunLock.take(files.directory)
    let result = RunPruning.remove(try RunCatalog.summaries(in: RunPlace(state: state)))
    #expect(result.count == 1)
    #expect(result.failures.map(\.description).first?.contains("is already running") == true)
    #expect(try RunStore.all(in: RunPlace(state: state)) == [files.directory])
    #expect(other != files.directory)
    lock.release()
  }
}
