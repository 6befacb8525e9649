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

/// A directory for one test, and runs whose jobs write to it. The environment of the jobs has the directory as `DIR`.
struct RunScene {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Returns a plan of jobs, which are lines of a job file below the key `jobs`.
  func plan(_ jobs: String, head: String = "") throws -> JobPlan {
    let text = "environment: {DIR: '\(directory.path)'}\n\(head)\njobs:\n\(jobs)\n"
    return try JobPlan(file: Array(text.utf8), name: "jobs.yaml", processorCount: 4)
  }

  /// Creates a run that has not started.
  func run(_ plan: JobPlan, failsFast: Bool = false) throws -> FinishedRun {
    var options = JobRun.Options()
    options.failsFast = failsFast
    return FinishedRun(JobRun(plan, logs: try JobLogs(), options: options) {})
  }

  /// Runs jobs to their end.
  func finished(_ jobs: String, head: String = "", failsFast: Bool = false) throws -> FinishedRun {
    let run = try run(plan(jobs, head: head), failsFast: failsFast)
    run.start()
    run.waitForEnd()
    return run
  }

  /// Returns the words of a file of the directory.
  func words(_ name: String) -> [String] {
    Self.contents(directory.file(name)).split(whereSeparator: \.isWhitespace).map { String($0) }
  }

  /// Waits until a file of the directory has at least a number of words.
  func waitForWords(_ count: Int, in name: String) {
    let deadline = ContinuousClock.now + .seconds(120)
    while words(name).count < count, ContinuousClock.now < deadline { usleep(1_000) }
  }

  /// Returns the contents of a file; empty if it cannot be read.
  static func contents(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&part, 1, part.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += part[..<count]
    }
  }
}

/// A run, whose logs are deleted when this object is released.
final class FinishedRun {
  let run: JobRun
  private let isOver = Monitored(false)
  private(set) var events: [JobEvent] = []

  init(_ run: JobRun) { self.run = run }

  deinit {
    for index in run.plan.jobs.indices {
      for attempt in 1...10 { unlink(log(index, attempt: attempt)) }
    }
    run.logs.deleteIfEmpty()
  }

  func start() {
    run.whenFinished { [isOver] in isOver.change { $0 = true } }
    run.start()
  }

  func waitForEnd() {
    isOver.wait(for: "the end of the run", limit: 240) { $0 }
    events += run.takeEvents()
  }

  /// The outcome of the job with an id.
  func outcome(_ id: String) -> JobOutcome? {
    run.plan.jobs.firstIndex { $0.id == id }.flatMap { run.outcomes[$0] }
  }

  /// The states of all jobs, such as `a succeeded`.
  var states: [String] {
    zip(run.plan.jobs, run.outcomes).map { "\($0.id) \($1.map(\.state.rawValue) ?? "-")" }
  }

  /// Returns the path of the log of an attempt.
  func log(_ index: Int, attempt: Int) -> String {
    run.logs.file(of: run.plan.jobs[index], at: index, attempt: attempt)
  }
}
