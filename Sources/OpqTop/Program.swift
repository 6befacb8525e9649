// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CMonitorSystem
import CursesTerminal
import Dashboard
import JobRun
import MonitorClient
import MonitorProtocol

/// The run of the program, from its arguments to its exit status.
///
/// The type is not isolated to an actor: the main thread runs the loop, and nothing uses the main
/// queue.
package enum Program {
  /// Runs the command in the arguments, and ends the process.
  package static func run(_ arguments: [String]) -> Never {
    // Without this call, the next file or socket of this program would get the number of a closed stream.
    cmonitor_replace_closed_streams()
    // The callers of write(2) handle its errors.
    cmonitor_ignore_write_signals()
    switch ending(of: arguments) {
    case .status(let status): cmonitor_exit(status)
    case .signal(let number): TerminationWatch.endProcess(by: number)
    }
  }

  private static func ending(of arguments: [String]) -> Ending {
    if let unknown = UnknownCommand(in: arguments) { return fail(unknown.message) }
    do {
      var command = try OpqTop.parseAsRoot(LaunchArguments.withoutAttach(arguments))
      if let command = command as? any EndingCommand { return command.ending() }
      try command.run()
      return .status(0)
    } catch {
      return report(error)
    }
  }

  /// Prints help and the version on standard output, and errors as one line on standard error.
  private static func report(_ error: any Error) -> Ending {
    if OpqTop.exitCode(for: error).isSuccess {
      StandardStream.output.write(OpqTop.fullMessage(for: error) + "\n")
      return .status(0)
    }
    return fail(OpqTop.message(for: error))
  }

  /// Whether the standard streams are a terminal, as the dashboard needs.
  static var hasTerminal: Bool {
    cmonitor_is_terminal(cmonitor_standard_input) && StandardStream.output.isTerminal
  }

  /// Prints on standard error the reason why the program cannot show anything. If jobs cannot be retried, prints a line
  /// for each of them, and the status is 1.
  package static func fail(_ error: any Error) -> Ending {
    if let failure = error as? RunFailure, !failure.refusals.isEmpty {
      for refusal in failure.refusals { StandardStream.error.write(errorLine(refusal)) }
      return .status(1)
    }
    return switch error {
    case let error as AttachError: fail("\(error)", status: error.status)
    case let error as FileError:
      fail(
        error.isAboutExistingFile ? "\(error); use --force to overwrite it" : "\(error)",
        status: error.status)
    case is TerminalError: fail("\(error); use --batch")
    default: fail("\(error)")
    }
  }

  /// Prints a message on standard error, which says why the program has failed or why its result is
  /// incomplete. Returns an ending with the given exit status.
  package static func fail(_ message: String, status: Int32 = 2) -> Ending {
    StandardStream.error.write(errorLine(message))
    return .status(status)
  }

  /// Returns the message as one line of limited length without characters that control a terminal.
  static func errorLine(_ message: String) -> String {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "opq-top: \(TerminalText.printable(line, columns: 1_000))\n"
  }

  /// Prints on standard error that standard output cannot be written, with the reason of an
  /// error number.
  static func failToWrite(_ error: Int32) -> Ending {
    fail(
      "cannot write to standard output: \(String(cString: cmonitor_error_text(error)))", status: 1)
  }
}

/// A command that determines how the process ends.
protocol EndingCommand: ParsableCommand {
  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending
}

/// The way in which the process ends.
package enum Ending: Sendable, Equatable {
  /// The process exits with a status. The status is 0 for success. It is 1 if the watched process
  /// or the terminal is lost, or if an output could not be written. It is 2 if the command line is
  /// invalid or no terminal is available. If the program has started a command, the status is that of
  /// the command.
  case status(Int32)
  /// The process ends with the signal that has requested its end.
  case signal(Int32)
}
