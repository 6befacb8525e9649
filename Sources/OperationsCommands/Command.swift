// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The description of a command: its program, arguments, environment, directory and streams.
///
/// A command is a value. It does nothing until a ``CommandOperation`` runs it, and any number of operations can run the
/// same command, for example the attempts of a `RetryOperation`:
///
/// ```swift
/// var build = Command("make", ["-j4", "all"])
/// build.workingDirectory = "/srv/project"
/// build.environment["LANG"] = "C.UTF-8"
/// queue.addOperation(CommandOperation(build))
/// ```
///
/// A change of a command has no effect on operations that were created with it earlier.
public struct Command: Sendable {
  /// The program: a name without a slash, which is searched in the directories of the variable `PATH` of the command's
  /// environment, or a path. A relative path begins in ``workingDirectory``.
  public let program: String
  /// The arguments of the program, without the name of the program.
  public let arguments: [String]
  /// The name of the command in messages, and the default name of its operations. The default is the last part of the
  /// program's path. The default for a shell text is the first line of the text, with at most 60 characters.
  public var name: String

  /// Changes of the environment variables that the command begins with. A value sets a variable, and `nil` removes it.
  /// Empty by default.
  public var environment: [String: String?] = [:]
  /// Whether the command begins with the environment variables of this process at the time of its start. If it is
  /// `false`, the command has only the variables that ``environment`` sets. The default is `true`.
  public var inheritsEnvironment = true
  /// The directory in which the command runs. A relative path begins in the directory of this process. `nil`, the
  /// default, is the directory of this process at the time of the start.
  public var workingDirectory: String?

  /// The standard input of the command. The default is ``CommandInput/none``.
  public var input = CommandInput.none
  /// The standard output of the command. The default is ``CommandOutput/collected(limit:)`` with a limit of 1 MiB.
  public var output = CommandOutput.collected(limit: 1 << 20)
  /// The standard error output of the command. `nil`, the default, is the destination of ``output``: the lines of both
  /// have the order in which the command has written them.
  public var errorOutput: CommandOutput?

  /// The time that the processes of a cancelled command have for ending after SIGTERM. After this time, they receive
  /// SIGKILL. The default is 10 seconds. A negative time counts as zero, and more than 100 years as 100 years.
  public var gracePeriod = Duration.seconds(10)

  /// The bytes of the standard input; `nil` if ``input`` is used.
  var inputBytes: [UInt8]?

  /// The grace periods of several commands, which a program can end early; `nil` if it cannot.
  package var gracePeriods: GracePeriods?

  /// The default of the operation's kind, which combines commands in statistics.
  let kind: String

  /// Creates a command from a program and its arguments. No shell interprets them.
  ///
  /// - Parameters:
  ///   - program: The name or the path of the program; see ``program``.
  ///   - arguments: The arguments, without the name of the program.
  public init(_ program: String, _ arguments: [String] = []) {
    self.program = program
    self.arguments = arguments
    name = program.split(separator: "/").last.map { String($0) } ?? program
    kind = name
  }

  /// Creates a command that runs a text with `/bin/sh -c`.
  ///
  /// The shell ends with the status of the last command of the text. Write `set -e` at the beginning of a text with
  /// several commands, so that the first failed command ends it.
  ///
  /// - Parameter text: The text. Do not insert a value that others control: pass it as an environment variable or as an
  ///   argument of a program instead.
  public init(shell text: String) {
    program = "/bin/sh"
    arguments = ["-c", text]
    let line = text.split(whereSeparator: \.isNewline).first ?? ""
    name = line.count > 60 ? "\(line.prefix(59))…" : String(line)
    if name.isEmpty { name = "sh" }
    kind = "sh"
  }
}
