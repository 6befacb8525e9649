// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobRun
import MonitorClient
import OperationsCommands

/// A run that the command line names.
struct FoundRun {
  /// The directory of the run.
  let directory: RunDirectory
  /// The words by which other commands find the run, such as `ID --state DIRECTORY`. They are unsanitised.
  let operand: String

  /// Finds a run.
  ///
  /// - Parameters:
  ///   - word: The id of the run, its first characters, or the path of its directory; `nil` for the newest run.
  ///   - options: The option that selects the place of the runs; `nil` if the command has no such option.
  /// - Throws: ``AttachError`` if there is no such run, or if several ids begin with the word.
  init(_ word: String?, in options: RunPlaceOptions?) throws(AttachError) {
    let path = word.flatMap { $0.contains("/") ? RunPath($0) : nil }
    do throws(RunFailure) {
      if let path {
        directory = try RunStore.find(path.id, in: RunPlace(state: path.state))
      } else {
        directory = try RunStore.find(word, in: options?.place ?? .beside(file: nil))
      }
    } catch {
      throw AttachError(.nothingThere, "\(error)")
    }
    if path != nil, let word {
      operand = word
    } else if let options {
      operand = RunWords(directory, options).operand
    } else {
      operand = directory.id
    }
  }

  /// Returns the id of the process that runs the jobs.
  ///
  /// - Throws: ``AttachError`` if no process runs them. The sentence names the commands that show the results.
  func process() throws(AttachError) -> Int32 {
    if let process = RunLock.holder(of: directory) {
      if process > 0 { return process }
      throw AttachError(.nothingThere, "the process of the run \(directory.id) is not known yet")
    }
    throw AttachError(
      .nothingThere,
      """
      no process runs the jobs of \(directory.id); "opq-top runs" shows their states, and \
      "opq-top log JOB --run \(operand)" shows the output of a job
      """)
  }
}

/// The path of the directory of a run, which ends with `runs` and the id of the run.
struct RunPath: Equatable {
  /// The directory that has the folder `runs`.
  let state: String
  /// The id of the run.
  let id: String

  /// Splits a path; `nil` if it is not the path of a run.
  init?(_ path: String) {
    let names = path.split(separator: "/")
    guard names.count >= 2, names[names.count - 2] == "runs", let id = names.last else {
      return nil
    }
    self.id = String(id)
    let rest = names.dropLast(2).joined(separator: "/")
    state = path.hasPrefix("/") ? "/\(rest)" : rest.isEmpty ? "." : rest
  }
}

extension ShimFiles {
  /// Whether the shim is alive. A check of another process at the same moment has the same result.
  var isShimAlive: Bool {
    let file = cmonitor_open_to_read(shim)
    guard file >= 0 else { return false }
    defer { cmonitor_close(file) }
    return cmonitor_lock(file, true) == cmonitor_error_try_again
  }
}
