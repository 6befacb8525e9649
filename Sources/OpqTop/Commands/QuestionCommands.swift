// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CMonitorSystem
import MonitorProtocol

/// `opq-top why`: explains why an operation does not run.
struct WhyCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explains why an operation does not run.",
    discussion: """
      Prints every reason why the operation does not run, the chain of operations that block it, and \
      warnings about it. Exits with 1 if the process does not know the operation, because it finished long \
      ago or never existed.
      """
        + Examples.help("why"))
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp(
      "The id of the operation, such as 1042 or '#1042', or its name.", valueName: "id"),
    transform: OperationWord.read)
  var operation: OperationWord

  @OptionGroup var options: InquiryOptions
  @OptionGroup var recorded: RecordingSourceOptions
  @OptionGroup var runs: RunPlaceOptions

  var source: RecordingSourceOptions? { recorded }
  var runPlace: RunPlaceOptions? { runs }
  var operations: [OperationWord] { [operation] }

  func validate() throws { try checkSource() }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry { WhyInquiry(ids[0], options.form) }
}

/// `opq-top tree`: prints the dependency tree of an operation.
struct TreeCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "tree", abstract: "Prints the dependency tree of an operation.",
    discussion: """
      Each operation has one row, with its dependencies below it. An operation that appears again is marked \
      ^seen, and a cycle of dependencies is marked ^cycle. Heavy lines (#== with --ascii) mark the critical \
      path. Exits with 1 if the process does not know the operation.
      """
        + Examples.help("tree"))
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp(
      "The id of the operation, such as 1042 or '#1042', or its name.", valueName: "id"),
    transform: OperationWord.read)
  var operation: OperationWord

  @Flag(help: "Print the tree of the operations that depend on the operation instead.")
  var dependents = false

  @OptionGroup var options: InquiryOptions
  @OptionGroup var recorded: RecordingSourceOptions
  @OptionGroup var runs: RunPlaceOptions

  var source: RecordingSourceOptions? { recorded }
  var runPlace: RunPlaceOptions? { runs }
  var operations: [OperationWord] { [operation] }

  /// The maximum width of the lines if the output is not a terminal.
  private static let usualColumns = 120
  private static let leastColumns = 60

  func validate() throws { try checkSource() }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry {
    TreeInquiry(
      ids[0], dependents ? .blocks : .waitsFor, columns: Self.columns, options.form)
  }

  private static var columns: Int {
    guard StandardStream.output.isTerminal else { return usualColumns }
    let columns = cmonitor_terminal_columns(StandardStream.output.rawValue)
    return columns > 0 ? max(leastColumns, Int(columns)) : usualColumns
  }
}

/// `opq-top wait`: waits until operations reach a state.
struct WaitCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Waits until operations reach a state.",
    discussion: """
      Exits with 0 when each operation has been in one of the states, and prints a line for each of them. \
      Exits with 1 if an operation can no longer reach the state or is unknown, if the process ends first, \
      or after the timeout.

      Unlike that of other commands, --state names no place of runs. So if the run is not in the directory .opq of the \
      working directory, --run needs the path of its directory.
      """
        + Examples.help("wait"))
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp(
      "The ids of the operations, such as 1042 or '#1042', or their names.",
      valueName: "id"),
    transform: OperationWord.read)
  var operations: [OperationWord]

  @Option(
    help: ArgumentHelp(
      """
      The states to wait for, separated by commas: \(WaitGoal.words). over means finished or \
      cancelled. (default: over)
      """, valueName: "state,..."),
    transform: WaitGoal.read)
  var state: WaitGoal?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The longest time to wait, such as 30, 500ms or 1.5s; from 10ms to a day.",
      valueName: "duration"))
  var timeout: Interval?

  @OptionGroup var options: InquiryOptions
  @OptionGroup var recorded: RecordingSourceOptions

  var source: RecordingSourceOptions? { recorded }

  func validate() throws {
    try operations.checkCount()
    try checkSource()
  }

  func inquiry(about ids: [OperationReport.ID]) -> any Inquiry {
    WaitInquiry(ids, for: state ?? .isOver, timeout: timeout?.duration, options.form)
  }
}

extension [OperationWord] {
  /// Checks that the command line does not name too many operations.
  ///
  /// - Throws: `ValidationError` if the command line has more operations than an interest can have.
  func checkCount() throws {
    guard count <= WireLimits.mostSingleOperations else {
      throw ValidationError("at most \(WireLimits.mostSingleOperations) operations can be given")
    }
  }
}
