// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobFiles
import JobRun

/// The inputs of a new run, and its plan.
struct RunInputs {
  /// The inputs that the directory of the run stores.
  private(set) var request: RunRequest
  /// The bytes of the jobs if they cannot be read again, because they are those of standard input or of a pipe;
  /// otherwise `nil`.
  let input: [UInt8]?
  let plan: JobPlan

  /// Reads the jobs.
  ///
  /// - Parameters:
  ///   - path: The path of the job file; `-` for standard input.
  ///   - isLines: Whether each line is a command.
  ///   - width: The width of all queues; `nil` for the widths of the file.
  ///   - only: The names of the jobs that run without the jobs that they need; empty for all jobs.
  ///   - until: The names of the jobs that run with all jobs that they need; empty for all jobs.
  ///   - failsFast: Whether the first failure cancels the other jobs.
  ///   - cluster: The cluster on which the commands run; `nil`, the default, for this machine.
  /// - Throws: `FileError` or `JobFileError` if the jobs cannot be read or have a mistake.
  init(
    _ path: String, isLines: Bool, width: Int?, only: [String], until: [String], failsFast: Bool,
    cluster: RunCluster? = nil
  ) throws {
    let isReadOnce = Self.isReadOnce(path)
    let bytes = try InputFile.bytes(of: path)
    var request = RunRequest(
      file: isReadOnce ? nil : RunPlace.absolute(path),
      title: path == "-" ? InputFile.standardInputName : path, isLines: isLines, width: width,
      only: only, until: until, failsFast: failsFast, cluster: cluster,
      directory: RunPlace.absolute("."))
    plan = try Self.plan(bytes, request)
    request.variables = RunVariables.hashes(of: plan)
    self.request = request
    input = isReadOnce ? bytes : nil
  }

  /// Checks that Slurm's commands can be called, and finds the directory on the cluster. Blocks the calling thread.
  /// Does nothing for a run on this machine.
  ///
  /// - Throws: `RunFailure` if the cluster cannot be used.
  mutating func findCluster() throws {
    guard let cluster = request.cluster else { return }
    request.cluster = try AwaitedWork.result { () async throws(RunFailure) in
      try await cluster.found()
    }
  }

  /// Returns whether the path has other contents, or none, when it is read again. It is standard input, a pipe such as
  /// that of a process substitution, or an open file of this process.
  private static func isReadOnce(_ path: String) -> Bool {
    if path == "-" { return true }
    let absolute = RunPlace.absolute(path)
    // The system resolves the links to open files, such as `/dev/stdin`, to the files.
    if absolute.hasPrefix("/dev/") || absolute.hasPrefix("/proc/") { return true }
    var status = cmonitor_file_status()
    return cmonitor_read_status(path, true, &status) == 0 && !status.is_regular
  }

  /// Reads the jobs of a run again. The job file can have changed since the start of the run.
  ///
  /// - Parameters:
  ///   - request: The inputs of the run.
  ///   - directory: The directory of the run.
  /// - Returns: The plan.
  /// - Throws: `RunFailure`, `FileError` or `JobFileError` if the jobs cannot be read or have a mistake.
  static func plan(of request: RunRequest, in directory: RunDirectory) throws -> JobPlan {
    let bytes =
      if let file = request.file { try InputFile.bytes(of: file) } else {
        try RunStore.input(of: directory)
      }
    return try plan(bytes, request)
  }

  private static func plan(_ bytes: [UInt8], _ request: RunRequest) throws -> JobPlan {
    let processorCount = JobRun.availableProcessorCount
    var plan =
      try request.isLines
      ? JobPlan(lines: bytes, name: request.title, processorCount: processorCount)
      : JobPlan(file: bytes, name: request.title, processorCount: processorCount)
    if !request.only.isEmpty { plan = try plan.only(request.only) }
    if !request.until.isEmpty { plan = try plan.until(request.until) }
    if let width = request.width { plan.setWidths(width) }
    return plan
  }
}
