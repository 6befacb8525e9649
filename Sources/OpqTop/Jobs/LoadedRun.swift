// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobFiles
import JobRun

/// A run as its files describe it, and what a runner does with its jobs.
struct LoadedRun {
  let directory: RunDirectory
  let request: RunRequest
  let plan: JobPlan
  let resumption: Resumption
  /// Whether no job is left to run, and the journal says that all jobs have ended.
  let isOver: Bool
  /// What people must know about the decisions. Each element is one sentence without a full stop, and has no character
  /// that controls a terminal.
  let sentences: [String]

  /// Creates the description of a new run.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - inputs: The inputs of the run.
  init(new directory: RunDirectory, _ inputs: RunInputs) {
    self.directory = directory
    request = inputs.request
    plan = inputs.plan
    resumption = .fresh(plan)
    isOver = false
    sentences = []
  }

  /// Reads the files of a run, and examines the commands that earlier runners have started. Nothing is written.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - retrying: The ids of the jobs that the user wants to retry; empty if there are none.
  /// - Throws: `RunFailure`, `FileError` or `JobFileError` if a file cannot be read or has a mistake, or `RunFailure`
  ///   with refusals if a job cannot be retried.
  init(_ directory: RunDirectory, retrying: [String]) throws {
    self.directory = directory
    let request = try RunRequest.read(directory)
    var status = cmonitor_file_status()
    guard cmonitor_read_status(request.directory, true, &status) == 0, status.is_directory else {
      throw RunFailure("the working directory of the run, \(request.directory), does not exist")
    }
    let plan = try RunInputs.plan(of: request, in: directory)
    let history = try RunHistory.read(directory)
    let resumption = try AwaitedWork.result { () async throws(RunFailure) in
      try await Resumption.load(
        plan, directory: directory, history: history, retrying: retrying.isEmpty ? nil : retrying)
    }
    (self.request, self.plan, self.resumption) = (request, plan, resumption)
    isOver = history.isFinished && !resumption.hasWork && resumption.records.isEmpty
    let change = RunVariables.change(
      from: request.variables, to: RunVariables.hashes(of: plan))
    sentences = resumption.sentences + (isOver ? [] : [change].compactMap(\.self))
  }

  /// Checks that the cluster of the run can be used if the run has jobs to execute. Blocks the calling thread. Does
  /// nothing for a run on this machine.
  ///
  /// - Throws: `RunFailure` if the cluster cannot be used.
  func checkCluster() throws(RunFailure) {
    guard resumption.hasWork, let cluster = request.cluster else { return }
    _ = try AwaitedWork.result { () async throws(RunFailure) in try await cluster.found() }
  }

  /// Throws the error that a runner executes the jobs of a run, if there is one.
  static func checkIdle(_ directory: RunDirectory) throws(RunFailure) {
    if let process = RunLock.holder(of: directory) {
      throw RunFailure(runner: process, of: directory)
    }
  }
}
