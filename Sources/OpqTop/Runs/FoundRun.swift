// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import MonitorClient
import MonitorProtocol

/// A run that the command line names.
struct FoundRun {
  let directory: RunDirectory
  /// The end of a command that a message proposes, such as ` --run 20261128-101500-x7k2`. It is unsanitised.
  let words: String

  /// Finds a run.
  ///
  /// - Parameters:
  ///   - word: The id of the run, its first characters, or the path of its directory; `nil` for the newest run.
  ///   - place: The place of the runs.
  ///   - placeWords: The option that selects the place, as the end of a command; empty if it is not given.
  /// - Throws: ``AttachError`` if there is no such run, or if several ids begin with the word.
  init(_ word: String?, in place: RunPlace, _ placeWords: String = "") throws(AttachError) {
    let path = word.flatMap { $0.contains("/") ? RunPath($0) : nil }
    do throws(RunFailure) {
      directory = try RunStore.find(
        path?.id ?? word, in: path.map { RunPlace(state: $0.state) } ?? place)
    } catch {
      throw AttachError(.nothingThere, "\(error)")
    }
    words = path == nil ? " --run \(directory.id)\(placeWords)" : " --run \(word ?? "")"
  }

  /// Returns the id of the process that runs the jobs.
  ///
  /// - Throws: ``AttachError`` if no process runs them. The sentence names the commands that show the results.
  func process() throws(AttachError) -> Int32 {
    if let process = RunLock.holder(of: directory) { return process }
    throw AttachError(
      .nothingThere,
      """
      no process runs the jobs of \(directory.id); "opq-top runs" shows their states, and \
      "opq-top log JOB\(words)" shows the output of a job
      """)
  }
}

/// The path of the directory of a run, which ends with `runs` and the id of the run.
struct RunPath: Equatable {
  /// The directory that has the folder `runs`.
  let state: String
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
