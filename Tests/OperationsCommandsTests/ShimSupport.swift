// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A directory with the files of shims, and a queue for their operations.
struct ShimScene: Sendable {
  let directory: TemporaryDirectory
  let queue = OperationQueue(name: "shims")
  var programs: ShimPrograms

  init() throws {
    directory = try TemporaryDirectory()
    programs = try ShimPrograms.find()
  }

  func files(_ name: String = "job") -> ShimFiles { ShimFiles(base: directory.file(name)) }

  /// Returns a scene whose shims are executed by another shell, under the name `sh`.
  func withShell(_ path: String) -> ShimScene {
    var scene = self
    scene.programs.shell = directory.file("sh")
    symlink(path, scene.programs.shell)
    return scene
  }

  /// Creates a command whose directory is that of the scene.
  func command(grace: Duration = .seconds(3600)) -> Command {
    var command = Command("sh")
    command.name = "job"
    command.workingDirectory = directory.path
    command.gracePeriod = grace
    return command
  }

  /// Creates an operation that is not in the queue.
  func operation(
    _ text: String, _ command: Command? = nil, shell: String = "/bin/sh",
    willStart: @escaping @Sendable () async throws -> Void = {}
  ) -> ShimOperation {
    ShimOperation(
      command ?? self.command(), shell: shell, text: text, files: files(), programs: programs,
      willStart: willStart)
  }

  /// Starts an operation.
  @discardableResult
  func start(_ text: String, _ command: Command? = nil) -> ShimOperation {
    let operation = operation(text, command)
    queue.addOperation(operation)
    return operation
  }

  /// Runs an operation that fails, and returns its error.
  func failure(of operation: ResultOperation<CommandResult>) async -> CommandError? {
    queue.addOperation(operation)
    return await end(of: operation)
  }

  /// Waits until an operation has finished, and returns its error.
  func end(of operation: ResultOperation<CommandResult>) async -> CommandError? {
    await operation.waitUntilFinished()
    return operation.error as? CommandError
  }

  /// Cancels an operation, waits for its end, and checks that its command was ended.
  func cancel(
    _ operation: ResultOperation<CommandResult>, at location: SourceLocation = #_sourceLocation
  ) async {
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(throws: CancellationError.self, sourceLocation: location) {
      try operation.result?.get()
    }
  }

  /// The output of the command.
  var log: String { contents(of: files().log) }

  /// Waits until the output of the command has a line.
  func waitForLine(_ line: String, at location: SourceLocation = #_sourceLocation) {
    let isThere = poll(for: .seconds(Patience.seconds), pausing: true) {
      log.split(separator: "\n").contains { $0 == line }
    }
    #expect(isThere, "\(log)", sourceLocation: location)
  }

  /// Waits until a file exists in the directory.
  func waitForFile(_ name: String, at location: SourceLocation = #_sourceLocation) {
    let isThere = poll(for: .seconds(Patience.seconds), pausing: true) { exists(name) }
    #expect(isThere, "\(name)", sourceLocation: location)
  }

  func exists(_ name: String) -> Bool { access(directory.file(name), F_OK) == 0 }

  /// Waits until the shim and the first process of the command have written who they are.
  func processes(
    at location: SourceLocation = #_sourceLocation
  ) throws -> (shim: ProcessIdentity, command: ProcessIdentity) {
    _ = poll(for: .seconds(Patience.seconds), pausing: true) {
      (try? files().processes.command) != nil
    }
    let processes = try files().processes
    return (
      try #require(processes.shim, sourceLocation: location),
      try #require(processes.command, sourceLocation: location)
    )
  }

  /// Starts a process that is the leader of a process group and sleeps. The operation ends it when it is cancelled.
  func sleeper() async throws -> (CommandOperation, ProcessIdentity) {
    var command = Command(shell: "echo $$; exec sleep 1000")
    let started = EventLog<String>()
    command.output = .lines { started.note($0) }
    command.gracePeriod = .zero
    let operation = CommandOperation(command)
    queue.addOperation(operation)
    _ = poll(for: .seconds(Patience.seconds), pausing: true) { !started.events.isEmpty }
    let process = try #require(started.events.first)
    write(contents(of: "/proc/\(process)/stat"), to: files("sleeper").shim)
    return (operation, try #require(try files("sleeper").processes.shim))
  }

  /// Returns the line of the file `/proc/self/stat`, by default as if this process was the leader of its group.
  ///
  /// - Parameters:
  ///   - start: The time of the start; `nil` for the right one.
  ///   - parent: The id of the parent; `nil` for the right one.
  ///   - group: The id of the group; `nil` for that of the process.
  /// - Returns: The line with a line feed.
  func line(start: UInt64? = nil, parent: Int32? = nil, group: Int32? = nil) -> String {
    var fields = contents(of: "/proc/self/stat").split(separator: " ").map { String($0) }
    fields[4] = group.map { "\($0)" } ?? fields[0]
    if let parent { fields[3] = "\(parent)" }
    if let start { fields[21] = "\(start)" }
    return fields.joined(separator: " ")
  }

  /// The identity of this process.
  func ownIdentity() throws -> ProcessIdentity {
    let files = files("own")
    write(line(), to: files.shim)
    return try #require(try files.processes.shim)
  }

  /// Lets commands end that run the text `gate`.
  func open() { write("", to: directory.file("open")) }

  /// The shells of POSIX on this machine that can execute a shim.
  static let shells: [String] = ["/bin/sh", "/bin/bash"].filter { path in
    access(path, X_OK) == 0
  }

  /// A shell text that waits until the gate is open.
  static let gate = "until [ -e open ]; do sleep 0.01; done"
}
