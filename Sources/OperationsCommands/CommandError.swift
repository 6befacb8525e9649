// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The reason why a command has failed.
public struct CommandError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of failures.
  @nonexhaustive
  public enum Code: Sendable, Hashable {
    /// The command has ended with an exit status other than 0: ``CommandError/exitStatus``.
    case exitStatus
    /// A signal has ended the command: ``CommandError/signal``.
    case signal
    /// The program does not exist, or this user may not execute it.
    case programNotFound
    /// The working directory does not exist, is not a directory, or may not be entered: ``CommandError/path``.
    case workingDirectory
    /// A file of the input or the output cannot be opened: ``CommandError/path``.
    case file
    /// The process or the system has no free file descriptors for the command. The limit of the process is that of
    /// `ulimit -n`.
    case fileDescriptors
    /// The command cannot be started for another reason: ``CommandError/reason``.
    case start
    /// The command was cancelled, and a process of its group was alive 5 seconds after it was sent SIGKILL, for example
    /// because it waits for a disk. It is the error of an operation only if the operation was cancelled while it
    /// executed.
    case stillAlive
    /// The command has ended, but its exit status is not known: the process that waited for it was killed, or could not
    /// write the exit status.
    case statusUnknown
    /// Slurm has refused the job, and the command has not run: ``CommandError/reason`` has Slurm's words.
    case refusedBySlurm
    /// Slurm has ended the job, for example because of its time limit: ``CommandError/slurmState``.
    case endedBySlurm
    /// Slurm has lost a job that was started, for example because Slurm's controller and the node have failed. The
    /// command has run at least in part.
    case lostBySlurm
    /// Slurm has lost several jobs of the command before their start. The command has not run, and cannot run later.
    case notStartedBySlurm
  }

  /// What has failed.
  public let code: Code
  /// The ``Command/name`` of the command.
  public let commandName: String
  /// The exit status, from 1 to 255; `nil` unless ``code`` is ``Code/exitStatus``.
  public internal(set) var exitStatus: Int32?
  /// The number of the signal; `nil` unless ``code`` is ``Code/signal``.
  public internal(set) var signal: Int32?
  /// The last line of the output, with at most 200 Unicode scalars; `nil` if the command was not started or has written
  /// no line.
  public internal(set) var lastLine: String?
  /// The path of the file or directory that cannot be used; `nil` for other failures.
  public internal(set) var path: String?
  /// The last state of the job in Slurm's words, such as `TIMEOUT`; `nil` unless ``code`` is ``Code/endedBySlurm``.
  public internal(set) var slurmState: String?
  /// The text of the system or of Slurm about the failure, such as “No such file or directory”; `nil` if there is none.
  public internal(set) var reason: String?

  init(_ code: Code, _ commandName: String) {
    self.code = code
    self.commandName = commandName
  }

  /// Creates the error for an exit status that a shell has reported; `nil` if it is 0.
  ///
  /// A shell reports 128 and the number of the signal if a signal has ended the command. So a command that exits with
  /// such a status counts as ended by the signal.
  init?(shellStatus status: Int32, _ commandName: String) {
    if status == 0 { return nil }
    if csystem_is_signal(status - 128) {
      self.init(.signal, commandName)
      signal = status - 128
    } else {
      self.init(.exitStatus, commandName)
      exitStatus = status
    }
  }

  /// The failure as one sentence for people, for example “make” ended with exit status 2: No rule to make target “all”.
  public var description: String {
    let name = "“\(commandName)”"
    let sentence =
      switch code {
      case .exitStatus: "\(name) ended with exit status \(exitStatus ?? 0)"
      case .signal: "\(name) was ended by \(signalText)"
      case .programNotFound:
        "\(name) cannot be started: the program was not found or cannot be executed"
      case .workingDirectory:
        "\(name) cannot be started: the directory “\(path ?? "")” cannot be used"
      case .file: "\(name) cannot be started: the file “\(path ?? "")” cannot be opened"
      case .fileDescriptors: "\(name) cannot be started: no file descriptors are free"
      case .start: "\(name) cannot be started"
      case .stillAlive: "\(name) was cancelled, but processes of it are still alive"
      case .statusUnknown: "\(name) has ended, but its exit status is not known"
      case .refusedBySlurm: "\(name) was refused by Slurm"
      case .endedBySlurm: "\(name) was ended by Slurm"
      case .lostBySlurm: "\(name) was started, and Slurm has lost it"
      case .notStartedBySlurm: "\(name) was not started by Slurm"
      }
    return [sentence, reason ?? lastLine].compactMap(\.self).joined(separator: ": ")
  }

  private var signalText: String {
    let number = signal ?? 0
    guard let name = csystem_signal_name(number) else { return "signal \(number)" }
    return "signal \(number) (\(String(cString: name)))"
  }
}
