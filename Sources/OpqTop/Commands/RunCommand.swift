// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CMonitorSystem
import COperationsSystem
import JobFiles
import JobRun
import MonitorProtocol

/// `opq-top run`: runs the jobs of a file, and shows them.
struct RunCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the commands of a job file.",
    discussion: """
      The file declares commands, the order in which they run, and the queues that run them. On a terminal, a process \
      without a terminal runs the jobs, and the dashboard shows them. If you close the dashboard with q or Ctrl-C, or \
      close the terminal, the jobs go on; "opq-top attach --run RUN" shows them again. Without a terminal or with \
      --batch, a line is printed for each start, each failed attempt that is retried and each end of a job, and a \
      summary at the end. These lines have no colors. The jobs do not outlive this process then, unless it is killed.

      With --on slurm, each command runs as a job of a Slurm cluster. The directory of the run must then be on a file system \
      that this machine and the nodes share. With --on slurm:LOGIN, Slurm's commands are called through ssh, which must \
      not ask for a password. The commands run in the home directory on the cluster, or with \
      --on slurm:LOGIN:DIRECTORY in this directory. Their output is copied to this machine.

      The directory .opq beside the file keeps the states and the output of all runs. --resume resumes a run whose \
      process was ended or killed: jobs that have ended do not run again, unless they have changed, and jobs that \
      still run are awaited. --resume with --dry-run says what would happen to each job.

      Exits with 0 if each job has succeeded, or was skipped because no need of a "when: failure" job has failed. \
      Exits with 1 if a job has failed, was cancelled, or was skipped for another reason. If the dashboard is closed \
      before the end, the status is 0, or 130 after Ctrl-C, or 1 if the journal cannot be written. A mistake in the file or the options is reported before \
      a job has started, and the status is 2. If --resume finds no run, the status is 3. Without the dashboard, after \
      the signal N, all jobs are ended, and the status is 128 + N, for example 130 after Ctrl-C. A second Ctrl-C kills \
      the commands.
      """
        + Examples.help("run"))

  @Argument(
    help: ArgumentHelp(
      """
      The job file: JSON if its name ends with .json, otherwise YAML. "-" is standard input. With --resume: the id of \
      the run, its first characters, or the path of its directory.
      """, valueName: "file"))
  var file: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run each line of this file as a command, without a job file. \"-\" is standard input.",
      valueName: "file"))
  var lines: String?

  @Flag(
    help: """
      Resume a run: by default the newest interrupted one or, if there is none, the newest one.
      """)
  var resume = false

  @Option(
    name: .customShort("j", allowingJoined: true), parsing: .unconditional,
    help: ArgumentHelp(
      "The maximum number of jobs of each queue that run at once.", valueName: "count"))
  var width: Int?

  @Option(
    help: ArgumentHelp(
      "Run only this job, without the jobs that it needs. Can be given several times.",
      valueName: "job"))
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "Run this job and all jobs that it needs. Can be given several times.", valueName: "job"))
  var until: [String] = []

  @Flag(
    help: """
      After the first failure, cancel the other jobs that run only after success. Not with --dry-run.
      """)
  var failFast = false

  @OptionGroup var cluster: RunClusterOptions

  @Flag(help: "Print the plan, and run nothing.")
  var dryRun = false

  @Flag(help: "With --dry-run: print the plan as one line of JSON.")
  var json = false

  @OptionGroup var place: RunPlaceOptions

  @OptionGroup var display: RunDisplayOptions

  @OptionGroup var internals: RunnerOptions

  func validate() throws {
    if internals.runner != nil { return }
    guard internals.retrying.isEmpty else {
      throw ValidationError("run has no option --retry; use \"opq-top retry\" to retry jobs")
    }
    if resume {
      try checkResume()
    } else if (file == nil) == (lines == nil) {
      throw ValidationError("give either a job file or --lines with a file")
    }
    if json, !dryRun { throw ValidationError("--json needs --dry-run") }
    if dryRun {
      if failFast { throw ValidationError("use only one of --dry-run and --fail-fast") }
      if place.state != nil, !resume {
        throw ValidationError("--state has no effect with --dry-run, which stores nothing")
      }
      try display.refuseDashboardOptions(with: "--dry-run")
    }
    if !only.isEmpty, !until.isEmpty { throw ValidationError("use only one of --only and --until") }
    if let width, width < 1 {
      throw ValidationError("-j needs a number of at least 1, not \(width)")
    }
  }

  /// Checks that no option is given that a run keeps from its start.
  private func checkResume() throws {
    let options = [
      (lines != nil, "--lines"), (width != nil, "-j"), (!only.isEmpty, "--only"),
      (!until.isEmpty, "--until"), (failFast, "--fail-fast"), (cluster.on != nil, "--on"),
      (cluster.poll != nil, "--poll"),
    ]
    if let option = options.first(where: \.0)?.1 {
      throw ValidationError("\(option) cannot be changed; use only one of --resume and \(option)")
    }
    if json { throw ValidationError("use only one of --resume and --json") }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    if let runner = internals.runner { return internals.ending(at: runner, display) }
    if resume { return resumed() }
    do {
      let inputs = try RunInputs(
        lines ?? file ?? "", isLines: lines != nil, width: width, only: only, until: until,
        failsFast: failFast, cluster: cluster.cluster)
      guard dryRun else { return RunStart.begin(inputs, in: place, display) }
      if json { return Self.print(inputs.plan.jsonLine) }
      let lines = inputs.plan.text + RunText.lines(about: inputs.request.cluster)
      return Self.print(RunText.shown(lines, isUnicode: !display.ascii))
    } catch {
      return Program.fail(error)
    }
  }

  private func resumed() -> Ending {
    do {
      let found = try FoundRun(file, resumedIn: place)
      try LoadedRun.checkIdle(found.directory)
      // The user has not chosen the run.
      if file == nil { RunText.say([found.resumeSentence], isUnicode: !display.ascii) }
      guard dryRun else {
        return RunStart(directory: found.directory, words: RunWords(found), display: display)
          .resume()
      }
      let run = try LoadedRun(found.directory, retrying: [])
      return Self.print(RunText.shown(run.text, isUnicode: !display.ascii))
    } catch {
      return Program.fail(error)
    }
  }

  private static func print(_ text: String) -> Ending {
    let error = StandardStream.output.write(text)
    guard error != 0, error != StandardStream.brokenPipe else { return .status(0) }
    return Program.failToWrite(error)
  }
}

/// The options with which `opq-top run` starts a runner without a terminal.
struct RunnerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Execute the jobs of the run in this directory, without a terminal.",
      valueName: "directory", visibility: .hidden))
  var runner: String?

  @Option(
    name: .customLong("retry"),
    help: ArgumentHelp("With --runner: retry this job.", valueName: "job", visibility: .hidden))
  var retrying: [String] = []

  /// Executes the jobs of a run in this process.
  ///
  /// - Parameters:
  ///   - path: The path of the directory of the run.
  ///   - display: The options for the output.
  /// - Returns: How the process must end.
  func ending(at path: String, _ display: RunDisplayOptions) -> Ending {
    // The files of the program that has started this process, such as its terminal, must not stay open.
    cmonitor_close_inherited_files()
    csystem_set_thread_name("opq-top")
    let directory = RunDirectory(path: path)
    return RunStart(
      directory: directory, words: RunWords(at: directory), display: display, retrying: retrying
    ).detachedEnding()
  }
}

/// The options of `opq-top run` for the display.
struct RunDisplayOptions: ParsableArguments {
  @Flag(help: "Print lines of text instead of showing the dashboard.")
  var batch = false

  @Flag(help: "Use only ASCII characters.")
  var ascii = false

  @Flag(help: "Use Unicode characters even if the locale is not UTF-8.")
  var unicode = false

  @Flag(name: .customLong("no-color"), help: "Use no colors.")
  var noColor = false

  @Option(
    help: ArgumentHelp(
      "Use colors: auto (unless NO_COLOR is set), always or never.", valueName: "when"))
  var color = ColorChoice.auto

  @Flag(help: "Leave the last frame on the terminal as text. Not with --batch and --dry-run.")
  var keep = false

  @OptionGroup var dashboard: DashboardOptions

  func validate() throws {
    if batch { try refuseDashboardOptions(with: "--batch") }
    do {
      _ = try view
    } catch {
      throw ValidationError(ViewOptions.message(for: error))
    }
  }

  /// Refuses the options that have an effect only on the dashboard. The others also hold for text, which has no colors.
  ///
  /// - Parameter option: The option that replaces the dashboard by lines or by the plan.
  /// - Throws: `ValidationError` if such an option is given.
  func refuseDashboardOptions(with option: String) throws {
    if keep { throw ValidationError("use only one of \(option) and --keep") }
    if color == .always { throw ValidationError("use only one of \(option) and --color=always") }
    if let other = dashboard.given.first {
      throw ValidationError("use only one of \(option) and \(other)")
    }
  }

  /// The options of the dashboard.
  var view: ViewOptions {
    get throws {
      let flags = [
        (batch, "--batch"), (ascii, "--ascii"), (unicode, "--unicode"), (noColor, "--no-color"),
        (keep, "--keep"),
      ]
      var view = try ViewOptions.parse(
        flags.filter(\.0).map(\.1) + ["--color", color.rawValue])
      view.dashboard = dashboard
      try view.validate()
      return view
    }
  }
}
