// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorClient
import MonitorProtocol

/// `opq-top attach`: shows another process.
struct AttachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Shows the queues of another process.",
    discussion: """
      The process has to listen: it was started with the environment variable OPQ_MONITOR set to ro or \
      rw, or calls OperationMonitor.listen(). It has to be one of this user's. "opq-top ls" lists those \
      that there are; where there is but one, it need not be named, and of several one can be chosen. \
      Several are watched as one, with a table of them and their sum. \
      Sockets are looked for in the directory opq below XDG_RUNTIME_DIR, and else in /tmp; where \
      OPQ_SOCKET_DIRECTORY names a directory for both programs, only there. \
      The process goes on when opq-top ends. The exit status is 3 where nothing listens, 5 where access \
      is denied, 4 where the process speaks another version of the protocol, and 1 where it does not \
      answer, or with --batch where it ends; of several, where none is left.
      """)

  @Argument(
    help: ArgumentHelp(
      "The id of a process, or the path of a socket; up to \(ProcessReport.numbers.count) of them.",
      valueName: "pid|socket"))
  var targets: [String] = []

  @OptionGroup var options: TargetOptions
  @OptionGroup var view: ViewOptions

  func validate() throws {
    guard let first = targets.first else { return }
    guard !options.isGiven else {
      throw ValidationError("\(first) and --pid, --wait or --socket exclude each other")
    }
    for (index, target) in targets.enumerated() {
      guard let named = AttachTarget(target) else {
        throw ValidationError("there is no process \"\(target)\": its id is a number from 1 on")
      }
      if targets[..<index].contains(where: { AttachTarget($0) == named }) {
        throw ValidationError("\(target) is named twice")
      }
    }
    guard targets.count > 1 else { return }
    guard targets.count <= ProcessReport.numbers.count else {
      throw ValidationError(
        "no more than \(ProcessReport.numbers.count) processes are watched at once")
    }
    if view.record != nil {
      throw ValidationError("--record takes one process, not \(targets.count)")
    }
  }

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    Attachment(targets: targets.compactMap { AttachTarget($0) }, options: options, view: view)
      .ending {
        Program.fail(AttachError(.nothingThere, ProcessTable.emptyMessage))
      }
  }
}
