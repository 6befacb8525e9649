// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import RunAnalysis

/// `opq-top report`: makes a page of what was recorded.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Makes a page to look at of a recording.",
    discussion: """
      The page is one HTML file without scripts, that needs nothing else: what ran in each slot of each \
      queue, how many operations ran and were ready, the critical path with what its time was spent with, \
      the slowest classes, and the warnings. It is light or dark as the reader's screen is, and can be \
      printed. The exit statuses are those of "opq-top export".
      """)

  @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
  var file: String

  @OptionGroup var output: OutputOptions

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    output.write(recording: file) { history, output throws(FileError) in
      try output.write(ReportPage(history, version: Version.number).html)
    }
  }
}
