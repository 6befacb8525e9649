// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobRun
import MonitorClient

/// `opq-top retry`: retries jobs of a run.
struct RetryCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Retries jobs of a run.",
    discussion: """
      Runs the jobs again, the jobs that were skipped because of them, and the jobs with "when: always" that need \
      them. Other jobs that have succeeded do not run again. A job must have failed or must have been cancelled. For a \
      job that was skipped, name the job because of which it was skipped.

      If a process executes the jobs of the run, the command asks it, and prints for each job if it is retried. Exits \
      with 1 if a job is not retried, and with 5 if the process is read-only. Of the options for the display, only \
      --ascii has an effect.

      Otherwise the command resumes the run as "opq-top run --resume" does, on a terminal in the dashboard. The exit \
      statuses are then those of "opq-top run". If one of the jobs cannot be retried, no job is retried, a line is \
      printed for each job that cannot be retried, and the status is 1.

      With --host or --via, the run is on another machine, and a process there must execute its jobs.

      Exits with 3 if there is no such run.
      """
        + Examples.help("retry"))

  @Argument(help: ArgumentHelp("The names of the jobs, such as align[1].", valueName: "job"))
  var jobs: [String]

  @Option(
    help: ArgumentHelp(
      """
      The run. "opq-top runs" lists the ids; the first characters of an id, or the path of the directory of the run, \
      are enough. (default: the newest run)
      """, valueName: "run"))
  var run: String?

  @OptionGroup var machine: MachineOptions
  @OptionGroup var runs: RunPlaceOptions
  @OptionGroup var display: RunDisplayOptions

  func validate() throws {
    if machine.isGiven, run == nil { throw ValidationError("\(MachineOptions.words) needs --run") }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      if let place = try machine.place(), let run { return try retry(run, on: place) }
      let found = try FoundRun(run, in: runs)
      guard RunLock.holder(of: found.directory) != nil else {
        return RunStart(
          directory: found.directory, words: RunWords(found), display: display, retrying: jobs
        ).resume()
      }
      let viewer = try ViewerRun(try ViewOptions.parse([]), takesJobSignals: false)
      return try ask(LocatedProcess(path: viewer.socket(of: found)), viewer)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }

  /// Asks the process that executes the jobs of a run on another machine.
  private func retry(_ run: String, on place: RemotePlace) throws -> Ending {
    let viewer = try ViewerRun(try ViewOptions.parse([]), takesJobSignals: false)
    defer { viewer.links.close() }
    let arguments = TargetOptions.relayArguments(ofRun: run, runs)
    return try ask(viewer.process(on: place, arguments), viewer)
  }

  private func ask(_ process: LocatedProcess, _ viewer: ViewerRun) throws -> Ending {
    var inquiry = RetryInquiry(jobs, InquiryForm(isUnicode: !display.ascii))
    return try viewer.ask(&inquiry, of: process, isReadOnly: false)
  }
}
