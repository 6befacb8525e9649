// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import Dashboard
import Glibc
import MonitorClient

/// The program from its arguments to its exit status.
///
/// It belongs to no actor: its thread is the loop, and the main queue is not used.
package enum Program {
  /// Does what the arguments ask, and ends the process.
  package static func run(_ arguments: [String]) -> Never {
    // A reader that has gone is an error of write(2), to be handled where it happens.
    signal(SIGPIPE, SIG_IGN)
    // So is a file that may not grow any more.
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

  /// Prints help and the version on standard output, and what is wrong in one line on standard error.
  private static func report(_ error: any Error) -> Ending {
    if OpqTop.exitCode(for: error).isSuccess {
      StandardStream.output.write(OpqTop.fullMessage(for: error) + "\n")
      return .status(0)
    }
    return fail(OpqTop.message(for: error))
  }

  /// Whether there is a terminal for the dashboard.
  static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 && StandardStream.output.isTerminal }

  /// Says on standard error why nothing can be shown.
  package static func fail(_ error: any Error) -> Ending {
    switch error {
    case let error as AttachError: fail("\(error)", status: error.status)
    case let error as FileError: fail("\(error)", status: error.status)
    case is TerminalError: fail("\(error); use --batch")
    default: fail("\(error)")
    }
  }

  /// Says on standard error why the program cannot do what it was asked to, or, with another
  /// status, has not done all of it.
  package static func fail(_ message: String, status: Int32 = 2) -> Ending {
    StandardStream.error.write(errorLine(message))
    return .status(status)
  }

  /// A message as one line of bounded length: whoever it comes from, no terminal obeys it.
  static func errorLine(_ message: String) -> String {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "opq-top: \(TerminalText.printable(line, columns: 1_000))\n"
  }

  /// Says that standard output takes no more, for the reason of an `errno`.
  static func failToWrite(_ error: Int32) -> Ending {
    fail("cannot write to standard output: \(String(cString: strerror(error)))", status: 1)
  }
}

/// How the process ends.
package enum Ending: Sendable, Equatable {
  /// With an exit status: 0 when all is well, 1 when what was watched or the terminal is gone or
  /// something could not be written, 2 when it was called wrongly or there is no terminal.
  case status(Int32)
  /// By a signal that asked it to.
  case signal(Int32)
}
