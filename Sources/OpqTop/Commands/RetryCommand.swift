// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobRun
import MonitorClient
import MonitorProtocol

/// `opq-top retry`: executes jobs of a run again.
struct RetryCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Runs jobs of a run again.",
    discussion: """
      Runs the jobs, the jobs that were skipped because of them, and the jobs with "when: always" that need them. \
      Other jobs that have succeeded do not run again. A job must have failed or must have been cancelled. For a job \
      that was skipped, name the job because of which it was skipped.

      If a process executes the jobs of the run, the command asks it, and exits with 1 if it repeats not all of the \
      jobs. Otherwise the run continues as with "opq-top run --resume", on a terminal in the dashboard. The exit \
      statuses are then those of "opq-top run". Exits with 3 if there is no such run.
      """)

  @Argument(help: ArgumentHelp("The names of the jobs, such as align[1].", valueName: "job"))
  var jobs: [String]

  @Option(
    help: ArgumentHelp(
      """
      The run. "opq-top runs" lists the ids; the first characters of an id, or the path of the directory of the run, \
      are enough. (default: the newest run)
      """, valueName: "run"))
  var run: String?

  @OptionGroup var runs: RunPlaceOptions
  @OptionGroup var display: RunDisplayOptions

  func validate() throws {
    guard jobs.count <= WireLimits.mostOperationsOfCommand else {
      throw ValidationError("at most \(WireLimits.mostOperationsOfCommand) jobs can be given")
    }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      let found = try FoundRun(run, in: runs)
      guard RunLock.holder(of: found.directory) != nil else {
        return RunStart(
          directory: found.directory, words: RunWords(found.directory, runs), display: display,
          retrying: jobs
        ).resume()
      }
      let viewer = try ViewerRun(try ViewOptions.parse([]), takesJobSignals: false)
      var inquiry = RetryInquiry(jobs, InquiryForm(isUnicode: !display.ascii))
      return try viewer.ask(
        &inquiry, of: AttachTarget.process(found.process()).path(), isReadOnly: false)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }
}
