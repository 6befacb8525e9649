// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal

/// `opq-top attach`: shows another process.
struct AttachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Shows the queues of another process.",
    discussion: """
      The process has to listen: it was started with the environment variable OPQ_MONITOR set to ro or \
      rw, or calls OperationMonitor.listen(). It has to be one of this user's. "opq-top ls" lists those \
      that there are; where there is but one, it need not be named, and of several one can be chosen. \
      Sockets are looked for in the directory opq below XDG_RUNTIME_DIR, and else in /tmp; where \
      OPQ_SOCKET_DIRECTORY names a directory for both programs, only there. \
      The process goes on when opq-top ends. The exit status is 3 where nothing listens, 5 where access \
      is denied, 4 where the process speaks another version of the protocol, and 1 where it does not \
      answer, or with --batch where it ends.
      """)

  @Argument(
    help: ArgumentHelp("The id of a process, or the path of a socket.", valueName: "pid|socket"))
  var target: String?

  @OptionGroup var options: TargetOptions
  @OptionGroup var view: ViewOptions

  func validate() throws {
    guard let target else { return }
    guard !options.isGiven else {
      throw ValidationError("\(target) and --pid, --wait or --socket exclude each other")
    }
    if AttachTarget(target) == nil {
      throw ValidationError("there is no process \"\(target)\": its id is a number from 1 on")
    }
  }

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    Attachment(target: target.flatMap { AttachTarget($0) }, options: options, view: view).ending {
      Program.fail(AttachError(.nothingThere, ProcessTable.emptyMessage))
    }
  }
}
