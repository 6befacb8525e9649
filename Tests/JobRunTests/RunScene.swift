// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
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

  /// Creates the directory of a run.
  func runDirectory(_ plan: JobPlan) throws -> RunDirectory {
    try RunStore.create(
      in: RunPlace(state: directory.path),
      request: RunRequest(file: nil, title: "jobs.yaml", directory: directory.path), input: [],
      plan: plan)
  }

  /// Creates a run that has not started, in a new directory.
  func run(
    _ plan: JobPlan, failsFast: Bool = false, time: JobRun.Time = .init(),
    disk: RunDisk = .system
  ) throws -> FinishedRun {
    var options = JobRun.Options()
    options.failsFast = failsFast
    options.time = time
    return try FinishedRun(
      plan, in: runDirectory(plan), .fresh(plan), options, disk: disk, scene: directory)
  }

  /// Creates a run that continues another one, and that has not started.
  func resumed(
    _ run: RunDirectory, _ plan: JobPlan, retrying: [String]? = nil, failsFast: Bool = false,
    disk: RunDisk = .system
  ) throws -> FinishedRun {
    let history = try RunHistory.read(run)
    let resumption = try Self.awaited {
      await Result { () async throws(RunFailure) in
        try await Resumption.load(plan, directory: run, history: history, retrying: retrying)
      }
    }.get()
    var options = JobRun.Options()
    options.failsFast = failsFast
    return try FinishedRun(plan, in: run, resumption, options, disk: disk, scene: directory)
  }

  /// Runs jobs to their end.
  func finished(_ jobs: String, head: String = "", failsFast: Bool = false) throws -> FinishedRun {
    let run = try run(plan(jobs, head: head), failsFast: failsFast)
    run.start()
    run.waitForEnd()
    return run
  }

  /// Creates a file of the directory.
  func touch(_ name: String) { close(creat(directory.file(name), 0o600)) }

  /// Returns the words of a file of the directory.
  func words(_ name: String) -> [String] {
    Self.contents(directory.file(name)).split(whereSeparator: \.isWhitespace).map { String($0) }
  }

  /// Waits until a file of the directory has at least a number of words.
  func waitForWords(_ count: Int, in name: String) {
    let deadline = ContinuousClock.now + .seconds(120)
    while words(name).count < count, ContinuousClock.now < deadline { usleep(1_000) }
  }

  /// Returns whether no process has an id, or the process is a zombie.
  static func hasEnded(_ process: String) -> Bool {
    // The state is the first letter after the name, which is in parentheses.
    let fields = contents("/proc/\(process)/stat").split(separator: ")").last ?? " X"
    return fields.dropFirst().first.map { "ZX".contains($0) } ?? true
  }

  /// Returns the names of the files in a directory.
  static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
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

  /// Performs asynchronous work, and blocks the calling thread until it is done.
  private static func awaited<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
  ) -> Value {
    let result = Monitored<Value?>(nil)
    Task.detached {
      let value = await work()
      result.change { $0 = value }
    }
    result.wait(for: "the result of a task") { $0 != nil }
    guard let value = result.value else { fatalError("the work has no result") }
    return value
  }
}

extension Result where Success: Sendable {
  /// Creates the result of asynchronous work.
  fileprivate init(_ work: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await work())
    } catch {
      self = .failure(error)
    }
  }
}

/// A run with its journal. The files are deleted when this object and the scene are released.
final class FinishedRun {
  let run: JobRun
  let journal: RunJournal
  private let scene: TemporaryDirectory
  /// How many times all jobs have ended.
  private let endCount = Monitored(0)
  private(set) var events: [JobEvent] = []

  init(
    _ plan: JobPlan, in directory: RunDirectory, _ resumption: Resumption,
    _ options: JobRun.Options, disk: RunDisk, scene: TemporaryDirectory
  ) throws {
    self.scene = scene
    journal = try RunJournal(appendingTo: directory, disk: disk)
    run = JobRun(
      plan, directory: directory, journal: journal, programs: try ShimPrograms.find(),
      history: resumption, options: options
    ) {}
  }

  deinit { journal.close() }

  func start() {
    run.whenFinished { [endCount] in endCount.change { $0 += 1 } }
    run.start()
  }

  /// Waits until all jobs have ended for a number of times.
  func waitForEnd(_ count: Int = 1) {
    endCount.wait(for: "the end of the run", limit: 240) { $0 >= count }
    events += run.takeEvents()
  }

  /// Writes everything that has happened to the journal. From now on, nothing is recorded and no command starts, as if
  /// the runner had ended. Commands that run continue.
  func endRunner() {
    journal.close()
    run.journalHasFailed(RunFailure("the runner has ended"))
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
    run.outputFile(of: index, attempt: attempt)
  }

  /// The records of the journal as short texts, such as `end first succeeded`, without those of runners. Call this
  /// method when the journal is closed.
  func records() throws -> [String] {
    try run.directory.records().filter { $0.event != .runner }.map { record in
      let attempt = record.event == .end ? nil : record.attempt.map { "\($0)" }
      let words = [record.event.rawValue, record.job, attempt, record.state?.rawValue]
      return (words.compactMap(\.self) + (record.jobs ?? [])).joined(separator: " ")
    }
  }
}

extension JobRun {
  /// Retries jobs. All of them must run again.
  ///
  /// - Returns: The ids of all jobs that run again, in the order of the plan.
  @discardableResult
  func retry(_ ids: [String]) throws(RunFailure) -> [String] {
    let choice = retryPossible(ids)
    if let refusal = ids.lazy.compactMap({ choice.refusals[$0] }).first {
      throw RunFailure(refusal)
    }
    return choice.indices.map { plan.jobs[$0].id }
  }
}
