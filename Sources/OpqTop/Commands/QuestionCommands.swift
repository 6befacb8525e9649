// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Glibc
import MonitorProtocol

/// `opq-top why`: why an operation is not running.
struct WhyCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Says what an operation does, or why it does not run.",
    discussion: """
      It prints everything that keeps the operation from running, the way to what holds it up, and what \
      is warned of about it. Where the process does not know the operation, because it finished long ago \
      or never was, the exit status is 1.
      """)
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp("The operation, as 1042 or '#1042'.", valueName: "id"),
    transform: OperationNumber.read)
  var id: OperationReport.ID

  @OptionGroup var options: InquiryOptions

  var inquiry: any Inquiry { WhyInquiry(id, options.form) }
}

/// `opq-top tree`: what an operation waits for.
struct TreeCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "tree", abstract: "Prints the tree of what an operation waits for.",
    discussion: """
      Each operation has one row with what it waits for below it; where it is met again, ^seen refers to \
      that, and ^cycle says that the dependencies go round in a circle. Heavy lines (in ASCII #==) are the \
      critical path. Where the process does not know the operation the exit status is 1.
      """)
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp("The operation, as 1042 or '#1042'.", valueName: "id"),
    transform: OperationNumber.read)
  var id: OperationReport.ID

  @Flag(help: "Print the tree of what waits for the operation instead.")
  var dependents = false

  @OptionGroup var options: InquiryOptions

  /// The width of lines that no terminal has to show.
  private static let usualColumns = 120
  private static let leastColumns = 60

  var inquiry: any Inquiry {
    TreeInquiry(
      id, dependents ? .blocks : .waitsFor, columns: Self.columns, options.form)
  }

  private static var columns: Int {
    var size = winsize()
    guard StandardStream.output.isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0,
      size.ws_col > 0
    else { return usualColumns }
    return max(leastColumns, Int(size.ws_col))
  }
}

/// `opq-top wait`: waits until operations have got somewhere.
struct WaitCommand: InquiryCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Waits until operations are over, or in another state.",
    discussion: """
      It ends with the status 0 when every operation has been in one of the states, each for itself, and \
      prints a line for each that has. Where one can get there no more, is not known, or the process goes \
      away first, and after --timeout, the status is 1.
      """)
  static let isReadOnly = true

  @Argument(
    help: ArgumentHelp("The operations, as 1042 or '#1042'.", valueName: "id"),
    transform: OperationNumber.read)
  var ids: [OperationReport.ID]

  @Option(
    help: ArgumentHelp(
      "What is waited for, any of several with commas between them: \(WaitGoal.words), which is "
        + "finished or cancelled. (default: over)", valueName: "state,..."),
    transform: WaitGoal.read)
  var state: WaitGoal?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Wait for so long at most, such as 30, 500ms or 1.5s; from 10ms to a day.",
      valueName: "duration"))
  var timeout: Interval?

  @OptionGroup var options: InquiryOptions

  func validate() throws { try ids.checkCount() }

  var inquiry: any Inquiry {
    WaitInquiry(ids, for: state ?? .isOver, timeout: timeout?.duration, options.form)
  }
}

extension [OperationReport.ID] {
  /// - Throws: `ValidationError` where they are more than a process can be asked about at once.
  func checkCount() throws {
    guard count <= WireLimits.mostSingleOperations else {
      throw ValidationError("no more than \(WireLimits.mostSingleOperations) operations at once")
    }
  }
}
