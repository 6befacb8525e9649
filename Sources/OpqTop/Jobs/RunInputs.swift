// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import JobRun

/// The inputs of a new run, and the plan that they give.
struct RunInputs {
  /// The inputs that the directory of the run stores.
  let request: RunRequest
  /// The bytes of the jobs if they were read from standard input; otherwise `nil`.
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
  /// - Throws: `FileError` or `JobFileError` if the jobs cannot be read or have a mistake.
  init(
    _ path: String, isLines: Bool, width: Int?, only: [String], until: [String], failsFast: Bool
  ) throws {
    let isStandardInput = path == "-"
    let bytes = try InputFile.bytes(of: path)
    var request = RunRequest(
      file: isStandardInput ? nil : RunPlace.absolute(path),
      title: isStandardInput ? InputFile.standardInputName : path, isLines: isLines, width: width,
      only: only, until: until, failsFast: failsFast, directory: RunPlace.absolute("."))
    plan = try Self.plan(bytes, request)
    request.variables = RunVariables.hashes(of: plan)
    self.request = request
    input = isStandardInput ? bytes : nil
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
