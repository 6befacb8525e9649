// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import RunAnalysis

/// `opq-top report`: writes a recording as an HTML report.
struct ReportCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Writes a recording as an HTML report.",
    discussion: """
      The report is one HTML file without scripts. It shows the slots of each queue, the number of \
      operations that ran and were ready, the critical path, the slowest kinds of operations, and the warnings. It has a \
      light, a dark and a printed form. The exit statuses are those of "opq-top export".
      """
        + Examples.help("report"))

  @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
  var file: String

  @OptionGroup var output: OutputOptions

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    output.write(recording: file) { history, output throws(FileError) in
      try output.write(ReportPage(history, version: Version.number).html)
    }
  }
}
