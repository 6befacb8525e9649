// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient
import MonitorProtocol
import RunAnalysis

/// `opq-top ls`: lists the processes that can be watched.
struct ListCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "Lists the processes that opq-top can attach to.",
    discussion: """
      These are the processes of this user that listen: they were started with OPQ_MONITOR=ro or \
      OPQ_MONITOR=rw in their environment, or call OperationMonitor.listen(). MODE is rw if a viewer can \
      cancel operations and ro if it cannot. PROTO is the version of the protocol. Exits with 3 if there is \
      no such process; with --json, the list is then empty.
      """)

  @Flag(help: "Print the list as one line of JSON.")
  var json = false

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    let found = ProcessFinder.find()
    if json {
      let error = StandardStream.output.write(JSONLine.text(of: ProcessListing(found)))
      guard error == 0 || error == StandardStream.brokenPipe else {
        return Program.failToWrite(error)
      }
    }
    guard !found.isEmpty else {
      return Program.fail(AttachError(.nothingThere, ProcessTable.emptyMessage))
    }
    if json { return .status(0) }
    let error = StandardStream.output.write(ProcessTable.text(of: found))
    return error == 0 || error == StandardStream.brokenPipe
      ? .status(0) : Program.failToWrite(error)
  }
}
