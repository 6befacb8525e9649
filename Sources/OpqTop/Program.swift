// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import Dashboard
import Glibc
import MonitorClient

/// The program, from its arguments to its exit status.
///
/// It is not isolated to an actor: its thread runs the loop, and the main queue is not used.
package enum Program {
  /// Runs the command in the arguments, and ends the process.
  package static func run(_ arguments: [String]) -> Never {
    // A closed reader is an error of write(2), which is handled there.
    signal(SIGPIPE, SIG_IGN)
    // A file that has reached its size limit is also handled there.
    signal(SIGXFSZ, SIG_IGN)
    switch ending(of: arguments) {
    case .status(let status): exit(status)
    case .signal(let number): TerminationWatch.endProcess(by: number)
    }
  }

  private static func ending(of arguments: [String]) -> Ending {
    do {
      var command = try OpqTop.parseAsRoot(arguments)
      switch command {
      case let command as AutomaticCommand: return command.ending()
      case let command as AttachCommand: return command.ending()
      case let command as DemoCommand: return command.ending()
      case let command as ListCommand: return command.ending()
      case let command as any InquiryCommand: return command.ending()
      case let command as RecordCommand: return command.ending()
      case let command as ReplayCommandLine: return command.ending()
      case let command as ExportCommand: return command.ending()
      case let command as ReportCommand: return command.ending()
      default:
        try command.run()
        return .status(0)
      }
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

  /// Whether there is a terminal for the dashboard.
  static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 && StandardStream.output.isTerminal }

  /// Prints on standard error why the program cannot show anything.
  package static func fail(_ error: any Error) -> Ending {
    switch error {
    case let error as AttachError: fail("\(error)", status: error.status)
    case let error as FileError: fail("\(error)", status: error.status)
    case is TerminalError: fail("\(error); use --batch")
    default: fail("\(error)")
    }
  }

  /// Prints on standard error why the program cannot carry out its command, or, with another
  /// status, why the result is incomplete.
  package static func fail(_ message: String, status: Int32 = 2) -> Ending {
    StandardStream.error.write(errorLine(message))
    return .status(status)
  }

  /// Returns a message as one line of limited length that does not control a terminal.
  static func errorLine(_ message: String) -> String {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "opq-top: \(TerminalText.printable(line, columns: 1_000))\n"
  }

  /// Reports that standard output cannot be written, with the reason of an `errno`.
  static func failToWrite(_ error: Int32) -> Ending {
    fail("cannot write to standard output: \(String(cString: strerror(error)))", status: 1)
  }
}

/// How the process ends.
package enum Ending: Sendable, Equatable {
  /// With an exit status: 0 for success, 1 if the watched process or the terminal is lost or
  /// something could not be written, 2 if the command line is invalid or there is no terminal.
  case status(Int32)
  /// By a signal that has requested it.
  case signal(Int32)
}
