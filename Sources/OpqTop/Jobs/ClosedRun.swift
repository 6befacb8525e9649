// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import MonitorProtocol

/// A run whose dashboard was closed.
struct ClosedRun {
  let directory: RunDirectory
  let words: RunWords
  /// Whether the output may have characters beyond ASCII.
  let isUnicode: Bool

  /// Prints the state of the run: the summary, how to return to the run, or how to continue it.
  ///
  /// - Parameters:
  ///   - closing: How the dashboard has ended.
  ///   - loss: Words about the end of the runner, such as ` by signal 9`; `nil` if the runner is alive. They are not
  ///     used if all jobs have ended.
  ///   - error: A sentence about an error that the runner has printed, and that is printed if the runner is alive;
  ///     `nil` if there is none. It can be unsanitised.
  /// - Returns: How the process must end.
  func ending(after closing: Ending, loss: String?, error: String? = nil) -> Ending {
    let result = ending(loss, error)
    return switch closing {
    case .status(0): result
    case .status: result == .status(0) ? closing : result
    case .signal: closing
    }
  }

  private func ending(_ loss: String?, _ error: String?) -> Ending {
    if WatchedRun.haveJobsEnded(of: directory) {
      let report = RunReport(directory)
      let ending = report.ending(isUnicode: isUnicode)
      if report.hasInterruptedJobs {
        StandardStream.error.write(Program.errorLine("continue the run with: \(words.resume)"))
      }
      return ending
    }
    if let loss {
      return Program.fail(
        "the runner of run \(words.id) was ended\(loss); continue the run with: \(words.resume)",
        status: 1)
    }
    let text = """
      run \(words.id) continues; return with: \(EscapedText.escaped(words.attach))
      "\(EscapedText.escaped(words.list))" lists the runs

      """
    StandardStream.output.write(RunText.shown(text, isUnicode: isUnicode))
    return error.map { Program.fail($0, status: 1) } ?? .status(0)
  }
}
