// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobFiles
import JobRun
import MonitorProtocol

/// `opq-top run`: runs the jobs of a file in this process, and shows them.
struct RunCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the commands of a job file.",
    discussion: """
      The file declares commands, the order in which they run, and the queues that run them. On a terminal, the \
      dashboard shows the jobs. The key q closes it and cancels the jobs that have not ended. Without a terminal or \
      with --batch, a line is printed for each start, each failed attempt that is retried and each end of a job, and \
      a summary at the end. These lines have no colors.

      Exits with 0 if each job has succeeded, or was skipped because no need of a "when: failure" job has failed. \
      Exits with 1 if a job has failed, was cancelled, or was skipped for another reason. A mistake in the file or \
      the options is reported before a job has started, and the status is 2. After the signal N, all jobs are ended, \
      and the status is 128 + N, for example 130 after Ctrl-C. A second Ctrl-C kills the commands.
      """)

  @Argument(
    help: ArgumentHelp(
      "The job file: JSON if its name ends with .json, otherwise YAML. \"-\" is standard input.",
      valueName: "file"))
  var file: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run each line of this file as a command, without a job file. \"-\" is standard input.",
      valueName: "file"))
  var lines: String?

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

  @Flag(help: "Print the plan, and run nothing.")
  var dryRun = false

  @Flag(help: "With --dry-run: print the plan as one line of JSON.")
  var json = false

  @OptionGroup var display: RunDisplayOptions

  func validate() throws {
    guard (file == nil) != (lines == nil) else {
      throw ValidationError("give either a job file or --lines with a file")
    }
    if json, !dryRun { throw ValidationError("--json needs --dry-run") }
    if dryRun {
      if failFast { throw ValidationError("use only one of --dry-run and --fail-fast") }
      try display.refuseDashboardOptions(with: "--dry-run")
    }
    if !only.isEmpty, !until.isEmpty { throw ValidationError("use only one of --only and --until") }
    if let width, width < 1 {
      throw ValidationError("-j needs a number of at least 1, not \(width)")
    }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      let plan = try plan()
      guard !dryRun else { return Self.show(plan, asJSON: json, isUnicode: !display.ascii) }
      var options = JobRun.Options()
      options.failsFast = failFast
      // Each line would otherwise be a kind of its own.
      options.kind = lines == nil ? nil : "line"
      return try RunningJobs.run(plan, options, display, title: title)
    } catch {
      return Program.fail(error)
    }
  }

  private var path: String { lines ?? file ?? "" }

  /// The name of the file, for messages and the dashboard. It is unsanitised.
  private var title: String { path == "-" ? InputFile.standardInputName : path }

  private func plan() throws -> JobPlan {
    let bytes = try InputFile.bytes(of: path)
    let processorCount = JobRun.availableProcessorCount
    var plan =
      try lines == nil
      ? JobPlan(file: bytes, name: title, processorCount: processorCount)
      : JobPlan(lines: bytes, name: title, processorCount: processorCount)
    if !only.isEmpty { plan = try plan.only(only) }
    if !until.isEmpty { plan = try plan.until(until) }
    if let width { plan.setWidths(width) }
    return plan
  }

  private static func show(_ plan: JobPlan, asJSON: Bool, isUnicode: Bool) -> Ending {
    let text = asJSON ? plan.jsonLine : RunText.shown(plan.text, isUnicode: isUnicode)
    let error = StandardStream.output.write(text)
    guard error != 0, error != StandardStream.brokenPipe else { return .status(0) }
    return Program.failToWrite(error)
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
  }

  /// The options of the dashboard.
  var view: ViewOptions {
    get throws {
      let flags = [
        (batch, "--batch"), (ascii, "--ascii"), (unicode, "--unicode"), (noColor, "--no-color"),
        (keep, "--keep"),
      ]
      return try ViewOptions.parse(
        flags.filter(\.0).map(\.1) + ["--color", color.rawValue])
    }
  }
}
