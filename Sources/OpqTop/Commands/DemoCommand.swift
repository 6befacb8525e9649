// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import Dashboard
import DemoWorkloads

/// `opq-top demo`: runs a demo in this process and shows its operations.
struct DemoCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Runs a demo workload and shows it.",
    discussion: DemoList.discussion + Examples.help("demo"))

  @OptionGroup var demo: DemoOptions
  @OptionGroup var view: ViewOptions
  @OptionGroup var recording: RecordingOptions

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    demo.isList ? Self.printList() : Self.show(demo.choice, view, recording)
  }

  /// Prints the list of demos.
  static func printList() -> Ending {
    let error = StandardStream.output.write(DemoList.text)
    guard error != 0, error != StandardStream.brokenPipe else { return .status(0) }
    return Program.failToWrite(error)
  }

  /// Runs a demo and shows its operations.
  static func show(
    _ choice: DemoChoice, _ view: ViewOptions, _ recording: RecordingOptions
  ) -> Ending {
    let hasTerminal = Program.hasTerminal
    guard view.batch || hasTerminal || choice.isOnce else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      // The run must be created before any other thread: it blocks signals, and threads that are
      // created later inherit the blocked signals.
      let run = try ViewerRun(view, recording: recording)
      let showsDashboard = hasTerminal && !view.batch
      let recorder = try run.openRecorder(of: nil, demo: choice.demo.name)
      let watched = try run.watchDemo(choice, isInteractive: showsDashboard)
      if view.batch { return try run.printFrames(of: watched, recorder: recorder) }
      guard showsDashboard else { return try run.runToTheEnd(watched, recorder: recorder) }
      return try run.showDashboard(of: (watched, .demo), demo: choice, recorder: recorder)
    } catch {
      return Program.fail(error)
    }
  }
}

/// Texts with the list of demos.
enum DemoList {
  /// The output of `--list`: for each demo its summary, a hint about it, and the keys for it.
  static var text: String {
    rows { [$0.summary, $0.guidance] } + "\n"
      + "Run one with: opq-top demo NAME. In the dashboard, ? lists the keys and q quits.\n"
  }

  /// The text about demos in `help demo`: for each demo its summary, and the work of one round.
  static var discussion: String {
    "The demos, and what a run with --once does:\n\n"
      + rows { [$0.summary, "--once: \($0.round)"] }
      + "\n--list describes each demo and its keys."
  }

  /// Returns a text with a row for each demo. A row begins with the name of the demo, and the given
  /// lines are to the right of the name, one below the other.
  private static func rows(_ lines: (Demo) -> [String]) -> String {
    let width = Demo.allCases.map(\.name.count).max() ?? 0
    let indentation = String(repeating: " ", count: width + 2)
    return Demo.allCases.map { demo in
      let name = demo.name + String(repeating: " ", count: width - demo.name.count + 2)
      return name + lines(demo).joined(separator: "\n" + indentation) + "\n"
    }.joined()
  }
}
