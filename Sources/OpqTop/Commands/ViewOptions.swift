// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CMonitorSystem
package import CursesTerminal
import Dashboard
import MonitorProtocol

/// The options for the display, which are the same for every source.
package struct ViewOptions: ParsableArguments {
  @Flag(help: "Print frames as text instead of showing the dashboard.")
  var batch = false

  @Option(
    name: .customShort("n"), parsing: .unconditional,
    help: ArgumentHelp(
      """
      With --batch: exit after this number of frames. With several processes, one frame of each \
      process counts as one.
      """, valueName: "count"))
  var frameCount: Int?

  @Option(
    name: .customShort("d"), parsing: .unconditional,
    help: ArgumentHelp(
      """
      With --batch: the time between frames, such as 0.5, 500ms or 1s, from 10ms to a day. \
      (default: 1s)
      """, valueName: "interval"))
  var interval: Interval?

  @Flag(help: "With --batch: print each frame as one line of JSON.")
  var json = false

  @Flag(
    help: ArgumentHelp(
      """
      With --batch: print each operation as one line of values separated by tabs. The first value is \
      the time of the frame.
      """))
  var tsv = false

  @Option(
    help: ArgumentHelp(
      "With --batch: the fields of each operation, in this order: \(FieldList.words).",
      valueName: "name,..."),
    transform: FieldList.fields)
  var fields: [BatchFrame.Operation.Field]?

  @OptionGroup var dashboard: DashboardOptions

  @Flag(help: "Use only ASCII characters.")
  var ascii = false

  @Flag(help: "Use Unicode characters even if the locale is not UTF-8.")
  var unicode = false

  @Flag(name: .customLong("no-color"), help: "Use no colors.")
  var noColor = false

  @Option(
    help: ArgumentHelp(
      "Use colors: auto (unless NO_COLOR is set), always or never.",
      valueName: "when"))
  var color = ColorChoice.auto

  @Flag(help: "Leave the last frame on the terminal as text.")
  var keep = false

  @Flag(name: .customLong("readonly"), help: "Send no commands to the process.")
  var isReadOnly = false

  @Flag(
    name: .customLong("frame-times"),
    help: ArgumentHelp(
      "At the end, print how long it took to draw the frames.", visibility: .hidden))
  var reportsFrameTimes = false

  @Option(
    name: .customLong("warn"),
    help: ArgumentHelp(
      """
      Show warnings of these kinds. By default all kinds but leaking are shown. If --warn and --allow \
      name the same kind, the last one counts. The kinds: \(WarningSelection.words).
      """,
      valueName: "kind,..."),
    transform: WarningSelection.warn)
  var warnings: [WarningSelection] = []

  @Option(
    name: .customLong("allow"),
    help: ArgumentHelp("Show no warnings of these kinds.", valueName: "kind,..."),
    transform: WarningSelection.allow)
  var allowances: [WarningSelection] = []

  /// The kinds of warnings that the display shows.
  var warningKinds: Set<MonitorWarning.Kind> {
    WarningSelection.kinds(after: warnings + allowances)
  }

  /// The options of batch mode on the command line.
  var batchOptions: BatchOptions {
    BatchOptions(
      format: json ? .json : tsv ? .tsv : .text, fields: fields, filter: dashboard.filter,
      order: dashboard.sort, isUnicode: !ascii, frameCount: frameCount,
      interval: interval?.duration ?? .seconds(1))
  }

  package init() {}

  package func validate() throws {
    let isForBatch =
      json || tsv || frameCount != nil || interval != nil || fields != nil
    if !batch && isForBatch {
      throw ValidationError("-n, -d, --json, --tsv and --fields need --batch")
    }
    if batch, let option = dashboard.givenForScreen.first {
      throw ValidationError("use only one of --batch and \(option)")
    }
    if batch, dashboard.sort?.column == .position {
      throw ValidationError("--sort=\(dashboard.sort?.settingName ?? "") needs the dashboard")
    }
    if color == .always && dashboard.theme == Theme.none {
      throw ValidationError("use only one of --color=always and --theme=none")
    }
    if json && tsv { throw ValidationError("use only one of --json and --tsv") }
    if let frameCount, frameCount < 1 {
      throw ValidationError("-n needs a number of at least 1, not \(frameCount)")
    }
    if noColor && color == .always {
      throw ValidationError("use only one of --no-color and --color=always")
    }
    if ascii && unicode { throw ValidationError("use only one of --ascii and --unicode") }
  }

  /// The options of the terminal on the command line.
  package var terminalOptions: Terminal.Options {
    let isColorRefused = cmonitor_environment("NO_COLOR").map { $0.pointee != 0 } ?? false
    let usesColor =
      switch color {
      case .auto: !noColor && !isColorRefused
      case .always: true
      case .never: false
      }
    return Terminal.Options(
      characters: ascii ? .ascii : unicode ? .unicode : .byLocale, usesColor: usesColor,
      keepsLastGrid: keep)
  }
}

/// The options that record the source that is shown. A recording cannot be recorded again.
struct RecordingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Record the process or demo that is shown, to a new file for \"opq-top replay\".",
      valueName: "file"))
  var record: String?

  @Flag(help: "With --record or --command-output: overwrite the file if it exists.")
  var force = false
}

/// The value of `--color`: whether the dashboard uses the terminal's colors.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
  /// The dashboard uses colors unless `NO_COLOR` is set and not empty.
  case auto
  /// The dashboard uses colors even if `NO_COLOR` is set.
  case always
  /// The dashboard never uses colors.
  case never
}
