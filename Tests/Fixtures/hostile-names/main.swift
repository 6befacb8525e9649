// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Shows the dashboard of opq-top for an imaginary process. A file contains the names as a JSON
// array of strings. Every place where a name can appear has one of these names.
//
//   fixture-hostile-names FILE [trap | ended | mouse]
//
// With "trap", the program traps at the first command, like a program with a defect. With "ended",
// it prints the batch mode's frames for a process that ends. With "mouse", the dashboard uses the mouse.

import ArgumentParser
import CursesTerminal
import Dashboard
import FoundationEssentials
import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Shows the dashboard until the imaginary process ends or the user quits.
func watchNames(_ arguments: [String]) throws -> Ending {
  guard let path = arguments.first, let data = try? Data(contentsOf: URL(filePath: path)),
    let names = try? JSONDecoder().decode([String].self, from: data), !names.isEmpty
  else { return Program.fail("needs a file with an array of names") }
  let mode = arguments.dropFirst().first
  JobSignals.block()
  let waker = try Waker()
  let watch = TerminationWatch(ring: { waker.ring() }, restore: { Terminal.restoreNow() })
  let source = ScriptedSource(names: names, trapsAtCommands: mode == "trap") { waker.ring() }
  if mode == "ended" {
    source.end(reason: names[0])
    let loop = BatchLoop(
      sessions: [source], waker: waker, watch: watch, completion: Completion(),
      options: BatchOptions(format: .tsv))
    return loop.run()
  }
  let opener = SourceOpener(waker: waker, isReadOnly: false) { throw CancellationError() }
  var configuration = Dashboard.Configuration(guidance: names[0])
  configuration.settings.usesMouse = mode == "mouse"
  let loop = DashboardLoop(
    terminal: try Terminal(ViewOptions.parse([]).terminalOptions), signals: try JobSignals(),
    dashboard: Dashboard(configuration: configuration),
    watched: WatchedSource(process: source), opener: opener, waker: waker, watch: watch,
    reportsFrameTimes: false)
  return loop.run().0
}

signal(SIGPIPE, SIG_IGN)
switch try watchNames(Array(CommandLine.arguments.dropFirst())) {
case .status(let status): exit(status)
case .signal(let number): TerminationWatch.endProcess(by: number)
}
