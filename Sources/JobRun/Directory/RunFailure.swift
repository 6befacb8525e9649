// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

/// The error that the directory of a run cannot be created, read or written.
package struct RunFailure: Error, Hashable, CustomStringConvertible {
  /// The error as one sentence. Characters that control a terminal are escaped.
  package let description: String
  /// Whether the reason is that there is no such run.
  package private(set) var isAboutMissingRun = false
  /// The reasons for which jobs cannot be retried, one sentence for each of these jobs; empty for another error.
  /// Characters that control a terminal are escaped.
  package private(set) var refusals: [String] = []

  /// Creates an error.
  ///
  /// - Parameter sentence: The error as one sentence without a full stop. The initializer escapes characters that
  ///   control a terminal.
  package init(_ sentence: String) { description = EscapedText.escaped(sentence) }

  /// Creates an error with a sentence whose characters were escaped.
  init(sentence: String) { description = sentence }

  /// Creates the error that an action on a file has failed.
  ///
  /// - Parameters:
  ///   - action: The action as words that follow `cannot`, such as `create the directory`.
  ///   - path: The path of the file.
  ///   - error: The error number of the system.
  ///   - advice: Words that follow the reason, or an empty text.
  init(_ action: String, _ path: String, error: Int32, advice: String = "") {
    self.init("cannot \(action) \(path): \(Self.text(of: error))\(advice)")
  }

  /// Creates the error that there is no such run.
  static func missingRun(_ sentence: String) -> RunFailure {
    var failure = RunFailure(sentence)
    failure.isAboutMissingRun = true
    return failure
  }

  /// Creates the error that jobs cannot be retried.
  ///
  /// - Parameter refusals: A sentence without a full stop for each of these jobs. The initializer escapes characters
  ///   that control a terminal.
  init(refusals: [String]) {
    self.init(refusals.joined(separator: "; "))
    self.refusals = refusals.map { EscapedText.escaped($0) }
  }

  /// Creates the error that a runner is alive.
  ///
  /// - Parameters:
  ///   - process: The process id of the runner; 0 if it is unknown.
  ///   - directory: The directory of the run.
  package init(runner process: Int32, of directory: RunDirectory) {
    let words = process > 0 ? " (process \(process))" : ""
    if let history = try? RunHistory.read(directory), history.isFinished {
      self.init(
        """
        all jobs of the run \(directory.id) have ended, and its runner\(words) waits until no dashboard shows it
        """)
    } else {
      self.init("the run \(directory.id) is already running\(words)")
    }
  }

  /// Returns the system's text about an error number.
  static func text(of error: Int32) -> String { String(cString: cmonitor_error_text(error)) }
}
