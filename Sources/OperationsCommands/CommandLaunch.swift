// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Subprocess
import SystemPackage

/// A command as swift-subprocess starts it.
struct CommandLaunch {
  private let command: Command
  private let configuration: Configuration

  /// - Throws: `CommandError` if a text of the command contains a NUL character, at which the system would cut it.
  init(_ command: Command) throws(CommandError) {
    self.command = command
    guard !command.texts.contains(where: { $0.utf8.contains(0) }) else {
      var error = CommandError(.start, command.name)
      error.reason = "a text of the command contains a NUL character"
      throw error
    }
    let changes = command.environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
    let environment: Environment = command.inheritsEnvironment ? .inherit : .custom([:])
    var options = PlatformOptions()
    // The leader of a session is also the leader of a process group.
    options.createSession = true
    configuration = Configuration(
      executable: command.program.utf8.contains(UInt8(ascii: "/"))
        ? .path(FilePath(command.program)) : .name(command.program),
      arguments: Arguments(command.arguments),
      environment: environment.updating(Dictionary(uniqueKeysWithValues: changes)),
      workingDirectory: command.workingDirectory.map { FilePath($0) }, platformOptions: options)
  }

  /// Starts the command, calls `body`, and reaps the first process of the command.
  ///
  /// swift-subprocess opens none of the files. If it opened a pipe and had no descriptor for the next one, it would end
  /// this process.
  ///
  /// - Parameters:
  ///   - files: The descriptors of the streams. The caller closes them.
  ///   - body: Called after the start. Until it returns, the process is not reaped.
  /// - Returns: The result of `body`, and how the process has ended.
  /// - Throws: `SubprocessError` if the command cannot be started.
  func run<Value: Sendable>(
    _ files: CommandFiles, _ body: (ProcessIdentifier) async -> Value
  ) async throws -> (Value, TerminationStatus) {
    let result = try await Subprocess.run(
      configuration,
      input: .fileDescriptor(
        FileDescriptor(rawValue: files.input), closeAfterSpawningProcess: false),
      output: .fileDescriptor(
        FileDescriptor(rawValue: files.output), closeAfterSpawningProcess: false),
      error: .fileDescriptor(
        FileDescriptor(rawValue: files.errorOutput), closeAfterSpawningProcess: false)
    ) { await body($0.processIdentifier) }
    return (result.closureResult, result.terminationStatus)
  }

  /// Returns the error of the command for an error of `run(_:_:)`.
  func commandError(for error: any Error) -> CommandError {
    guard let error = error as? SubprocessError else {
      var result = CommandError(.start, command.name)
      result.reason = "\(error)"
      return result
    }
    let number = error.underlyingError?.rawValue
    let isShortage = number.map { csystem_is_out_of_descriptors($0) } ?? false
    var result: CommandError
    if isShortage {
      result = CommandError(.fileDescriptors, command.name)
    } else if error.code == .executableNotFound {
      result = CommandError(.programNotFound, command.name)
      result.path = command.program
    } else if error.code == .failedToChangeWorkingDirectory {
      result = CommandError(.workingDirectory, command.name)
      result.path = command.workingDirectory
      result.reason = error.underlyingError?.description
    } else {
      result = CommandError(.start, command.name)
      result.reason = error.underlyingError?.description ?? error.description
    }
    return result
  }
}

extension Command {
  /// The texts that the system reads up to a NUL character.
  var texts: [String] {
    var texts = [program] + arguments + environment.keys + environment.values.compactMap(\.self)
    if let workingDirectory { texts.append(workingDirectory) }
    if case .file(let path) = input { texts.append(path) }
    for case .file(let path, _)? in [output, errorOutput] { texts.append(path) }
    return texts
  }
}
