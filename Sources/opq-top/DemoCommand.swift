// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import DemoWorkloads
import Glibc

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

  @OptionGroup var view: ViewOptions

  func validate() throws {
    if output != nil && !demo.writesFiles {
      throw ValidationError("--output goes with the demo tiles: \(demo.name) writes no files")
    }
  }

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    if isList { return printList() }
    let hasTerminal = isatty(STDIN_FILENO) == 1 && StandardStream.output.isTerminal
    guard view.batch || hasTerminal || once else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      // First of all: it blocks signals, which later threads inherit.
      let run = try DemoRun(isReadOnly: view.isReadOnly, warningKinds: view.warningKinds)
      if view.batch {
        return try run.printFrames(of: demo, options(isInteractive: false), view.batchOptions)
      }
      guard hasTerminal else {
        return try run.runToTheEnd(demo, options(isInteractive: false))
      }
      return try run.showDashboard(
        of: demo, options(isInteractive: !once), terminalOptions: view.terminalOptions,
        tellsFrameTimes: view.tellsFrameTimes)
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
}
