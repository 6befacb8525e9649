// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Glibc
import MonitorClient
import MonitorProtocol

/// `opq-top ls`: the processes that can be watched.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "Lists the processes that can be attached to.",
    discussion: """
      These are the processes of this user that listen: they were started with the environment \
      variable OPQ_MONITOR set to ro or rw, or call OperationMonitor.listen(). MODE says whether a \
      viewer may cancel (rw) or only look (ro), PROTO which version of the protocol a process speaks. \
      Where there is none, the exit status is 3.
      """)

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    let found = ProcessFinder.find()
    guard !found.isEmpty else {
      return Program.fail(AttachError(.nothingThere, ProcessTable.emptyMessage))
    }
    let error = StandardStream.output.write(ProcessTable.text(of: found))
    return error == 0 || error == EPIPE ? .status(0) : Program.failToWrite(error)
  }
}
