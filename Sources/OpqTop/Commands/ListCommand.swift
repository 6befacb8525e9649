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
      no such process; with --json, the list is then empty. With a host, lists the processes of the same user there.
      """
        + Examples.help("ls"))

  @Argument(
    help: ArgumentHelp("The host whose processes are listed, as with -H.", valueName: "host"))
  var host: String?

  @OptionGroup var machine: MachineOptions

  @Flag(help: "Print the list as one line of JSON.")
  var json = false

  func validate() throws {
    if let host, machine.isGiven {
      throw ValidationError("\(host) cannot be combined with \(MachineOptions.words)")
    }
    _ = try place()
  }

  private func place() throws -> RemotePlace? {
    try host.map { try RemotePlace(checking: $0) } ?? machine.place()
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      guard let place = try place() else { return ending(with: ProcessFinder.find(), on: nil) }
      // `ViewerRun` must be created before any other thread. It blocks signals in this thread, and
      // threads that are created later inherit the blocked signals.
      let run = try ViewerRun(try ViewOptions.parse([]), takesJobSignals: false)
      defer { run.links.close() }
      return ending(with: try run.find(on: place), on: place)
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }

  private func ending(with found: [ProcessFinder.Found], on place: RemotePlace?) -> Ending {
    if json {
      let listing = ProcessListing(found, on: place)
      let error = StandardStream.output.write(JSONLine.text(of: listing))
      guard error == 0 || error == StandardStream.brokenPipe else {
        return Program.failToWrite(error)
      }
    }
    guard !found.isEmpty else {
      return Program.fail(AttachError(.nothingThere, ProcessTable.emptyMessage(on: place)))
    }
    if json { return .status(0) }
    let error = StandardStream.output.write(ProcessTable.text(of: found))
    return error == 0 || error == StandardStream.brokenPipe
      ? .status(0) : Program.failToWrite(error)
  }
}
