// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import RunAnalysis

/// `opq-top export`: writes what was recorded in a form that other programs read.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Writes a recording in the form of another program.",
    discussion: """
      chrome-trace is for Perfetto and the tracing pages of browsers: each queue with its slots, what ran \
      in them, what depended on what, and the critical path. dot is the dependency graph for Graphviz, \
      csv a line for each operation. What was cut off or is damaged is left out, and that is said. The \
      exit status is 2 where there is no such file or it is no recording, 4 where it was made by another \
      major version, and 1 where not all could be read or written.
      """)

  @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
  var file: String

  @Option(help: "chrome-trace, dot or csv.")
  var format: ExportFormat

  @OptionGroup var output: OutputOptions

  @Option(
    help: ArgumentHelp(
      "Only operations that match, such as \"queue:io class:Tile\"; the words are those of the "
        + "dashboard's filter.", valueName: "text"),
    transform: { try OperationFilter($0) })
  var filter: OperationFilter?

  /// Does it, and says how the process has to end.
  func ending() -> Ending {
    output.write(recording: file) { history, output throws(FileError) in
      let run = ExportedRun(history, filter: filter)
      try format.export(run).write { text throws(FileError) in try output.write(text) }
    }
  }
}

/// Where a text is written that is made of a recording.
struct OutputOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file to write; without it, and with -, standard output.", valueName: "file"))
  var output: String?

  @Flag(help: "Write over the file where it is there already.")
  var force = false

  /// Reads a recording and writes what is made of it, and says how the process has to end.
  ///
  /// - Parameters:
  ///   - path: Of the recording.
  ///   - body: Writes all of it.
  /// - Returns: The ending.
  func write(
    recording path: String,
    _ body: (RunHistory, inout OutputText) throws(FileError) -> Void
  ) -> Ending {
    do throws(FileError) {
      let history = RunHistory(try RecordingReader(path: path))
      var text = try OutputText(to: output, replaces: force)
      do throws(FileError) {
        try body(history, &text)
        try text.flush()
      } catch {
        text.discard()
        throw error
      }
      guard let fault = history.fault else { return .status(0) }
      return Program.fail("\(path): \(fault)", status: 1)
    } catch {
      // Whoever reads no further has seen enough.
      return error.status == 0 ? .status(0) : Program.fail(error)
    }
  }
}
