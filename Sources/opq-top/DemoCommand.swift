// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import DemoWorkloads
import Glibc
import MonitorProtocol

/// `opq-top demo`: runs a workload in this process, and shows it.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Runs a workload, and shows it.",
    discussion: DemoList.discussion)

  @Argument(help: ArgumentHelp("The workload.", valueName: "name"))
  var demo = Demo.tiles

  @Flag(name: .customLong("list"), help: "Print what demos there are, and end.")
  var isList = false

  @Flag(help: "End the workload when one round is done; see above.")
  var once = false

  // Read unconditionally, so that a negative number is told what is wrong with it.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Decides what the workload does.", valueName: "number"))
  var seed: UInt64 = 7

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How many times faster than usual it goes.", valueName: "factor"))
  var speed = 1.0

  @Option(
    help: ArgumentHelp("Keep the files that it makes in this directory.", valueName: "directory"))
  var output: String?

  @Flag(help: "Print frames as text instead of showing the dashboard.")
  var batch = false

  @Option(
    name: .customShort("n"), parsing: .unconditional,
    help: ArgumentHelp("With --batch: end after so many frames.", valueName: "count"))
  var frameCount: Int?

  @Option(
    name: .customShort("d"), parsing: .unconditional,
    help: ArgumentHelp(
      "With --batch: the time between frames, such as 0.5, 500ms or 1s; from 10ms to a day. "
        + "(default: 1s)", valueName: "interval"))
  var interval: Interval?

  @Flag(help: "With --batch: print each frame as one line of JSON.")
  var json = false

  @Flag(help: "Draw with ASCII characters only.")
  var ascii = false

  @Flag(help: "Draw with all characters, whatever the locale says.")
  var unicode = false

  @Flag(name: .customLong("no-color"), help: "Draw without colours, as with NO_COLOR set.")
  var noColor = false

  @Flag(name: .customLong("readonly"), help: "Take no command: nothing can be cancelled.")
  var isReadOnly = false

  @Flag(
    name: .customLong("frame-times"),
    help: ArgumentHelp("At the end, say how long frames took.", visibility: .hidden))
  var tellsFrameTimes = false

  @Option(
    name: .customLong("warn"),
    help: ArgumentHelp(
      "Warn of these kinds, too; usually of all but leaking. Repeatable, as --allow is: for each "
        + "kind the last one counts. The kinds: \(WarningWish.words), which stands for each.",
      valueName: "kind,..."),
    transform: WarningWish.warn)
  var warnings: [WarningWish] = []

  @Option(
    name: .customLong("allow"),
    help: ArgumentHelp("Do not warn of these kinds.", valueName: "kind,..."),
    transform: WarningWish.allow)
  var allowances: [WarningWish] = []

  /// What to warn of.
  var warningKinds: Set<MonitorWarning.Kind> { WarningWish.kinds(after: warnings + allowances) }

  func validate() throws {
    if !batch && (json || frameCount != nil || interval != nil) {
      throw ValidationError("-n, -d and --json go with --batch")
    }
    if let frameCount, frameCount < 1 {
      throw ValidationError("-n takes a number from 1 on, not \(frameCount)")
    }
    if output != nil && !demo.writesFiles {
      throw ValidationError("--output goes with the demo tiles: \(demo.name) writes no files")
    }
    if ascii && unicode { throw ValidationError("--ascii and --unicode exclude each other") }
  }

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    if isList { return printList() }
    let hasTerminal = isatty(STDIN_FILENO) == 1 && StandardStream.output.isTerminal
    guard batch || hasTerminal || once else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      // First of all: it blocks signals, which later threads inherit.
      let run = try DemoRun(isReadOnly: isReadOnly, warningKinds: warningKinds)
      if batch {
        return try run.printFrames(
          of: demo, options(isInteractive: false), count: frameCount,
          interval: interval?.duration ?? .seconds(1), isJSON: json)
      }
      guard hasTerminal else {
        return try run.runToTheEnd(demo, options(isInteractive: false))
      }
      return try run.showDashboard(
        of: demo, options(isInteractive: !once), terminalOptions: terminalOptions,
        tellsFrameTimes: tellsFrameTimes)
    } catch let error as TerminalError {
      return Program.fail("\(error); use --batch")
    } catch {
      return Program.fail("\(error)")
    }
  }

  private func printList() -> Ending {
    let error = StandardStream.output.write(DemoList.text)
    guard error != 0, error != EPIPE else { return .status(0) }
    return Program.failToWrite(error)
  }

  private func options(isInteractive: Bool) -> WorkloadOptions {
    WorkloadOptions(
      seed: seed, speed: speed, isOnce: once, isInteractive: isInteractive, outputDirectory: output)
  }

  private var terminalOptions: Terminal.Options {
    let isColorRefused = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    return Terminal.Options(
      characters: ascii ? .ascii : unicode ? .unicode : .byLocale,
      usesColor: !noColor && !isColorRefused)
  }
}
