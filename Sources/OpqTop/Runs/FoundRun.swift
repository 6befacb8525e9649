// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import JobRun
import MonitorClient
import MonitorProtocol

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
  /// - Throws: `AttachError` if there is no such run, `RunFailure` if several ids begin with the word or if the place
  ///   cannot be read, or `ValidationError` if both the word and the option contain the place.
  init(_ word: String?, in options: RunPlaceOptions?) throws {
    if let word, word.contains("/"), options?.state != nil {
      throw ValidationError("--state cannot be combined with the path of a run")
    }
    let path = word.flatMap { RunPath($0) }
    do throws(RunFailure) {
      if let path {
        directory = try RunStore.find(path.id, in: RunPlace(state: path.state))
      } else {
        directory = try RunStore.find(word, in: options?.place ?? .beside(file: nil))
      }
    } catch {
      throw error.isAboutMissingRun ? AttachError(.nothingThere, "\(error)") : error
    }
    if path != nil, let word {
      operand = word.shellWord
    } else if let options {
      operand = RunWords(directory, options).operand
    } else {
      operand = directory.id
    }
  }

  /// Returns the id of the process that runs the jobs.
  ///
  /// - Throws: `AttachError` if no process runs them. The sentence names the commands that show the results.
  func process() throws(AttachError) -> Int32 {
    let process = RunLock.holder(of: directory)
    if let process, process > 0 { return process }
    if directory.isStarting() {
      throw AttachError(
        .nothingThere, "the run \(directory.id) is starting, and its process is not known yet")
    }
    if process != nil {
      throw AttachError(
        .nothingThere, "the process that has locked the run \(directory.id) is not known")
    }
    throw AttachError(
      .nothingThere,
      """
      no process runs the jobs of \(directory.id); "opq-top runs" shows their states, and \
      "opq-top log JOB --run \(operand)" shows the output of a job
      """)
  }

  /// Returns the path of the socket of the process that runs the jobs. A process that is about to begin is awaited for
  /// a short time.
  ///
  /// - Parameters:
  ///   - patience: The longest time to wait.
  ///   - pause: A function that waits for a part of the time, and throws an error to end the wait.
  /// - Returns: The path.
  /// - Throws: `AttachError` if no process runs the jobs or listens, or the error of the function.
  func socket(patience: Duration = .seconds(2), pause: () throws -> Void) throws -> String {
    let deadline = ContinuousClock.now + patience
    while true {
      do throws(AttachError) {
        return try AttachTarget.process(process()).path()
      } catch {
        // A new runner listens before its first record is in the journal.
        let mayListen = directory.isStarting() || RunLock.holder(of: directory) == 0
        guard error.kind == .nothingThere, mayListen, .now < deadline else { throw error }
      }
      try pause()
    }
  }
}

extension ViewerRun {
  /// Returns the path of the socket of the process that runs the jobs of a run.
  ///
  /// - Parameter run: The run.
  /// - Returns: The path.
  /// - Throws: `AttachError` if there is no such process, or ``SignalRequest`` if a signal arrives while the program
  ///   waits.
  func socket(of run: FoundRun) throws -> String {
    try run.socket {
      waker.wait(until: .now + .milliseconds(20))
      if let signal = watch.takeRequest() { throw SignalRequest(signal: signal) }
    }
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
