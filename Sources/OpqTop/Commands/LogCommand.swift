// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobRun
import MonitorProtocol

/// `opq-top log`: prints the log lines of an operation, or the output of a job of a run.
struct LogCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Prints the log lines of an operation, or the output of a job.",
    discussion: """
      Prints the last lines that the code of the operation has logged, at most \(OperationLog.lineLimit), \
      with the time in UTC and the level. The program must log through OperationLogHandler. With --json, \
      each line is one object. Exits with 1 if the process does not know the operation.

      With --run, --state or --attempt, or if no process listens and the directory .opq has runs, prints the whole \
      output of a job of a run, by default of the newest run, also if the run has ended. On a terminal, characters \
      that control the terminal are replaced. A file or a pipe receives the bytes as they are. Without --attempt, \
      prints the last attempt; with --follow, also the attempts after it, until the job has ended. Exits with 1 if \
      the run has no such job or attempt, or if the run is interrupted while --follow waits. opq-top cannot read \
      the output of a job on another machine. Call it on that machine, for example with ssh.
      """
        + Examples.help("log"))
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp(
      "The id of the operation, such as 1042 or '#1042', or its name; with --run, the name of the job.",
      valueName: "id"))
  var name: String

  @Flag(
    name: .shortAndLong,
    help: """
      Also print new lines until the operation or the job has finished. Exits with 1 if the process ends first.
      """)
  var follow = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print the output of this attempt of the job. The first attempt is 1.", valueName: "number"))
  var attempt: Int?

  @OptionGroup var options: InquiryOptions
  @OptionGroup var recorded: RecordingSourceOptions
  @OptionGroup var runs: RunPlaceOptions

  var source: RecordingSourceOptions? { recorded }
  var operations: [OperationWord] { OperationWord(argument: name).map { [$0] } ?? [] }

  /// Whether the options select the output of a job of a run.
  private var isAboutRun: Bool {
    options.target.run != nil || runs.state != nil || attempt != nil
  }

  func validate() throws {
    try checkSource()
    if follow, recorded.recording != nil {
      throw ValidationError("--follow cannot be combined with --recording")
    }
    if let attempt, attempt < 1 {
      throw ValidationError("--attempt needs a number of at least 1, not \(attempt)")
    }
    guard isAboutRun else {
      _ = try OperationWord.read(name)
      return
    }
    if options.target.machine.isGiven {
      throw ValidationError(
        """
        --run, --state and --attempt cannot be combined with \(MachineOptions.words): the output of a job is a file \
        on its machine
        """)
    }
    if options.json {
      throw ValidationError(
        "--json cannot be combined with --run, --state or --attempt: the output of a job is not JSON"
      )
    }
    let isProcess = options.target.run == nil && options.target.isGiven
    if isProcess || recorded.recording != nil {
      throw ValidationError(
        "--state and --attempt cannot be combined with --pid, --wait, --socket or --recording")
    }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    guard isAboutRun else { return answer() }
    do {
      let viewer = try ViewerRun(try ViewOptions.parse([]), takesJobSignals: false)
      return try print(FoundRun(options.target.run, in: runs), viewer)
    } catch {
      return Program.fail(error)
    }
  }

  func endingWithoutProcess(_ viewer: ViewerRun) throws -> Ending? {
    // The log lines of a process have a form in JSON, and the output of a job has none.
    guard !options.json, try !RunStore.all(in: runs.place).isEmpty else { return nil }
    return try print(FoundRun(nil, in: runs), viewer)
  }

  private func print(_ run: FoundRun, _ viewer: ViewerRun) throws -> Ending {
    let isShown = StandardStream.output.isTerminal || options.ascii
    var log = JobLog(
      run, job: name, attempt: attempt, follows: follow,
      isShown ? ShownBytes(isUnicode: !options.ascii) : nil)
    return try log.print(viewer)
  }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry {
    LogInquiry(ids[0], follows: follow, options.form)
  }
}
