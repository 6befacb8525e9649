// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The reason why a ``RemoteOperation`` has failed.
public struct RemoteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of failures.
  @nonexhaustive
  public enum Code: Sendable, Hashable {
    /// The work has thrown an error: ``RemoteError/errorType`` and ``RemoteError/reason``.
    case thrown
    /// A signal has ended the other process, for example because the work has crashed: ``RemoteError/signal`` and
    /// ``RemoteError/lastLines``.
    case signal
    /// The other process has ended without a result: ``RemoteError/exitStatus`` and ``RemoteError/lastLines``. The work
    /// has called `exit`, the output cannot be written, or the program has ended before it called `serveRemoteWork`.
    case noResult
    /// The executable of the other process is a different build from that of this process. On a Slurm cluster, this is
    /// also the error if the executable of this process was deleted or replaced.
    case otherBuild
    /// The type of the work was not passed to `serveRemoteWork`.
    case notServed
    /// The program has more privileges than the user that started it: its file has the set-user-ID mode, the
    /// set-group-ID mode or capabilities. Such a program must not use the environment variable that names its work.
    case privileges
    /// The work cannot be encoded, or the other process cannot decode it: ``RemoteError/reason``.
    case workCoding
    /// The other process cannot encode the output, or this process cannot decode it: ``RemoteError/reason``.
    case outputCoding
    /// A file of the work cannot be created or read: ``RemoteError/path`` and ``RemoteError/reason``.
    case file
  }

  /// What has failed.
  public let code: Code
  /// The name of the work's type.
  public let workName: String
  /// The name of the type of the error that the work has thrown, with its module; `nil` unless ``code`` is
  /// ``Code/thrown``.
  public internal(set) var errorType: String?
  /// The number of the signal; `nil` unless ``code`` is ``Code/signal``.
  public internal(set) var signal: Int32?
  /// The exit status, from 0 to 255; `nil` unless ``code`` is ``Code/noResult``.
  public internal(set) var exitStatus: Int32?
  /// The last lines of the output and the error output of the other process: at most ten, with at most 200 Unicode
  /// scalars each. Empty if it was not started or has written no line.
  public internal(set) var lastLines: [String] = []
  /// The path of the file that cannot be used; `nil` for other failures.
  public internal(set) var path: String?
  /// The description of the error that the work or the system has reported; `nil` if there is none.
  public internal(set) var reason: String?

  init(_ code: Code, _ workName: String, reason: String? = nil) {
    self.code = code
    self.workName = workName
    self.reason = reason
  }

  /// Creates the error of a process that has ended without a result; `nil` if its command was not started or has
  /// failed for another reason than its end.
  ///
  /// - Parameters:
  ///   - error: The error of its command; `nil` if it has ended with the exit status 0.
  ///   - workName: The name of the work's type.
  ///   - lastLines: The last lines of its output.
  init?(endOf error: CommandError?, _ workName: String, lastLines: [String]) {
    switch error?.code {
    case .signal:
      self.init(.signal, workName)
      signal = error?.signal
    case .exitStatus, nil:
      self.init(.noResult, workName)
      exitStatus = error?.exitStatus ?? 0
    case .programNotFound, .workingDirectory, .file, .fileDescriptors, .start, .stillAlive,
      .statusUnknown, .refusedBySlurm, .endedBySlurm, .lostBySlurm, .notStartedBySlurm:
      return nil
    }
    self.lastLines = lastLines
  }

  /// The failure as one sentence for people, for example “Thumbnail” was ended by signal 4 (SIGILL): Fatal error: Index
  /// out of range.
  public var description: String {
    let name = "“\(workName)”"
    let sentence =
      switch code {
      case .thrown: "\(name) has thrown \(errorType ?? "an error")"
      case .signal: "\(name) was ended by \(signalText)"
      case .noResult: "\(name) ended with exit status \(exitStatus ?? 0) and without a result"
      case .otherBuild:
        "\(name) cannot run: the executable is a different build from that of this process"
      case .notServed:
        "\(name) cannot run: pass its type to serveRemoteWork at the beginning of main"
      case .privileges:
        "\(name) cannot run: this program has more privileges than the user that started it"
      case .workCoding: "\(name) cannot be encoded or decoded"
      case .outputCoding: "the output of \(name) cannot be encoded or decoded"
      case .file: "the file “\(path ?? "")” of \(name) cannot be used"
      }
    return [sentence, reason ?? lastLines.last].compactMap(\.self).joined(separator: ": ")
  }

  private var signalText: String {
    let number = signal ?? 0
    guard let name = csystem_signal_name(number) else { return "signal \(number)" }
    return "signal \(number) (\(String(cString: name)))"
  }
}
