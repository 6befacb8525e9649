// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import SystemPackage

/// The file descriptors for the streams of a command. They are closed when the object is released, unless they were
/// closed before.
final class CommandFiles: Sendable {
  /// A stream from the command that this process reads.
  struct Stream: Sendable {
    let output: CommandOutput
    let pipe: Int32
  }

  /// A file that the command writes, and its size at the start.
  struct WrittenFile: Sendable {
    let path: String
    let size: Int64
  }

  let input: Int32
  let output: Int32
  let errorOutput: Int32
  /// The streams with a pipe: the output, the error output, both, or none.
  let outputStream: Stream?
  let errorStream: Stream?
  /// The files that the command writes.
  let writtenFiles: [WrittenFile]

  /// The open descriptors that only the command uses.
  private let own: Locked<[Int32]>

  /// Opens the files and pipes of a command.
  ///
  /// - Throws: `CommandError`. All descriptors are then closed.
  init(_ command: Command) throws(CommandError) {
    var opener = Opener(commandName: command.name)
    do {
      switch command.input {
      case _ where command.inputBytes != nil:
        let bytes = command.inputBytes ?? []
        input = try opener.open("", csystem_open_memory(bytes, bytes.count))
      case .none: input = try opener.open("/dev/null", csystem_open_input("/dev/null"))
      case .file(let path): input = try opener.open(path, csystem_open_input(path))
      }
      (output, outputStream) = try opener.open(command.output)
      if let destination = command.errorOutput {
        (errorOutput, errorStream) = try opener.open(destination)
      } else {
        (errorOutput, errorStream) = (output, nil)
      }
    } catch {
      for descriptor in opener.own + opener.pipes { csystem_close(descriptor) }
      throw error
    }
    writtenFiles = opener.files
    own = Locked(opener.own)
  }

  /// Opens the files of a shim: its input is the locked file, its output is the log, and its error output is dropped.
  /// Deletes the exit status of an earlier shim.
  ///
  /// - Throws: `CommandError`. All descriptors are then closed.
  init(_ files: ShimFiles, commandName: String) async throws(CommandError) {
    var opener = Opener(commandName: commandName)
    let locked = await Self.openLocked(files.shim)
    do {
      input = try opener.open(files.shim, locked)
      csystem_delete_file(files.status)
      output = try opener.open(files.log, csystem_open_private_output(files.log))
      errorOutput = try opener.open("/dev/null", csystem_open_null())
    } catch {
      for descriptor in opener.own { csystem_close(descriptor) }
      throw error
    }
    (outputStream, errorStream) = (nil, nil)
    writtenFiles = [WrittenFile(path: files.log, size: max(0, csystem_file_size(output)))]
    own = Locked(opener.own)
  }

  deinit { closeOwn() }

  /// Opens and locks the locked file of a shim. Another process that asks if the file is locked holds a lock for a
  /// moment. In a cancelled task, the tries follow each other without a pause.
  ///
  /// - Returns: The descriptor, or the negative error number.
  private static func openLocked(_ path: String) async -> Int32 {
    for _ in 0..<100 {
      let file = csystem_open_locked(path)
      guard csystem_is_lock_held(-file) else { return file }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return csystem_open_locked(path)
  }

  /// Closes the descriptors that only the command uses. A second call does nothing.
  func closeOwn() {
    let descriptors = own.withLock { own in
      defer { own = [] }
      return own
    }
    for descriptor in descriptors { csystem_close(descriptor) }
  }
}

/// Opens descriptors, and knows which are open.
private struct Opener {
  let commandName: String
  var own: [Int32] = []
  var pipes: [Int32] = []
  var files: [CommandFiles.WrittenFile] = []

  /// Stores a descriptor that was opened, or throws the error that a negative one means.
  mutating func open(_ path: String, _ descriptor: Int32) throws(CommandError) -> Int32 {
    guard descriptor >= 0 else { throw failure(-descriptor, path) }
    own.append(descriptor)
    return descriptor
  }

  mutating func open(
    _ destination: CommandOutput
  ) throws(CommandError) -> (Int32, CommandFiles.Stream?) {
    switch destination {
    case .discarded: return (try open("/dev/null", csystem_open_output("/dev/null", true)), nil)
    case .file(let path, let appends):
      let file = try open(path, csystem_open_output(path, appends))
      let size = csystem_file_size(file)
      if size >= 0 { files.append(CommandFiles.WrittenFile(path: path, size: size)) }
      return (file, nil)
    case .collected, .lines:
      var (readEnd, writeEnd): (Int32, Int32) = (-1, -1)
      let error = csystem_open_pipe(&readEnd, &writeEnd)
      guard error == 0 else { throw failure(error, nil) }
      own.append(writeEnd)
      pipes.append(readEnd)
      return (writeEnd, CommandFiles.Stream(output: destination, pipe: readEnd))
    }
  }

  private func failure(_ number: Int32, _ path: String?) -> CommandError {
    let isShortage = csystem_is_out_of_descriptors(number)
    var error = CommandError(
      isShortage ? .fileDescriptors : path == nil ? .start : .file, commandName)
    if !isShortage {
      error.path = path
      error.reason = Errno(rawValue: number).description
    }
    return error
  }
}
