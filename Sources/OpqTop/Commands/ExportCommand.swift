// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CMonitorSystem
import MonitorProtocol
import RunAnalysis

/// `opq-top export`: converts a recording to the format of another program.
struct ExportCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Exports a recording to another format.",
    discussion: """
      chrome-trace is for Perfetto and the tracing pages of browsers: the slots of each queue, the \
      operations in them, their dependencies, and the critical path. dot is the dependency graph for \
      Graphviz. csv has a line for each operation. If the recording is damaged or cut off, the part before \
      is exported. Exits with 1 if something could not be read or written, with 2 if the file does not \
      exist or is not a recording, and with 4 if another major version made it.
      """
        + Examples.help("export"))

  @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
  var file: String

  @Option(help: "The format: chrome-trace, dot or csv.")
  var format: ExportFormat

  @OptionGroup var output: OutputOptions

  @Option(
    help: ArgumentHelp(
      """
      Export only matching operations, such as "queue:io kind:Tile". The syntax is that of the \
      dashboard's filter.
      """, valueName: "text"),
    transform: { try OperationFilter($0) })
  var filter: OperationFilter?

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    output.write(recording: file) { history, output throws(FileError) in
      let run = ExportedRun(history, filter: filter)
      try format.export(run).write { text throws(FileError) in try output.write(text) }
    }
  }
}

extension ExportFormat: ExpressibleByArgument {}

/// Identifies a file independently of its path.
private struct FilePlace: Equatable {
  let device: UInt64
  let number: UInt64

  /// Finds the file at a path; `nil` if no file exists there.
  init?(_ path: String) {
    var status = cmonitor_file_status()
    guard cmonitor_read_status(path, true, &status) == 0 else { return nil }
    (device, number) = (status.device, status.number)
  }
}

/// The options for the file that a converted recording is written to.
struct OutputOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file to write. Without this option, or with -, writes to standard output.",
      valueName: "file"))
  var output: String?

  @Flag(help: "Overwrite the file if it exists.")
  var force = false

  /// Reads a recording and writes the converted recording. Returns how the process must end: with
  /// an exit status or by a signal.
  ///
  /// - Parameters:
  ///   - path: The path of the recording.
  ///   - body: Writes the whole converted recording.
  /// - Returns: How the process must end.
  func write(
    recording path: String,
    _ body: (RunHistory, inout OutputText) throws(FileError) -> Void
  ) -> Ending {
    do throws(FileError) {
      if let output, FilePlace(output).map({ $0 == FilePlace(path) }) == true {
        throw FileError("the output file \(output) is the recording itself")
      }
      let history = RunHistory(try RecordingReader(path: path))
      var text = try OutputText(to: output, replaces: force)
      try body(history, &text)
      try text.finish()
      guard let fault = history.fault else { return .status(0) }
      return Program.fail("\(path): \(fault)", status: 1)
    } catch {
      // If the reader closes the output early, that is not an error.
      return error.status == 0 ? .status(0) : Program.fail(error)
    }
  }
}
