// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import OperationsCore

/// An asynchronous operation that runs a command.
///
/// ```swift
/// let build = CommandOperation(Command("make", ["-j4"]))
/// let test = CommandOperation(Command(shell: "make test | tee test.log"))
/// test.addDependency(build, requires: .success)
/// queue.addOperations([build, test])
/// print(try await test.value.text)
/// ```
///
/// The operation executes from the start of the command until its end, and blocks no thread in this time. If the
/// command ends with the exit status 0, the result is a ``CommandResult``. Otherwise the operation fails with a
/// ``CommandError``. The last line of the command's output is the status of the operation, and the output is its log;
/// see ``CommandOutput``.
///
/// ### Cancelling
///
/// The command has a session and a process group of its own, so signals of a terminal such as that of Ctrl-C do not
/// reach it. It has no terminal: a program that opens `/dev/tty`, for example to read a password, gets an error.
/// `cancel()` sends SIGTERM to the processes of the group. After the ``Command/gracePeriod``, or as soon as the first
/// process of the command has ended, they receive SIGKILL. The operation finishes when no process of the group is
/// alive, so dependents never start earlier. If a process is still alive 5 seconds after SIGKILL, the operation
/// finishes with a ``CommandError``. A process that has left the group, for example with `setsid`, is not ended.
///
/// A command that ends by itself may leave processes of its group behind. They continue, as with a shell.
///
/// ### File descriptors
///
/// A command needs up to ten file descriptors for its start, and up to three while it runs. If the limit of the process
/// (`ulimit -n`) is too low for all commands, the operations execute and wait in their order until other commands have
/// ended. If too few descriptors are free although no command runs, the operation fails with a ``CommandError``.
///
/// ### Retries and timeouts
///
/// An operation runs its command once. Each attempt of a `RetryOperation` needs a new operation:
///
/// ```swift
/// let fetch = RetryOperation(maximumAttempts: 3) { _ in CommandOperation(Command("git", ["fetch"])) }
/// let check = TimeoutOperation(after: .seconds(60)) { CommandOperation(Command("make", ["check"])) }
/// ```
///
/// ### Clusters
///
/// With ``CommandPlace/slurm(_:_:)``, the command runs as a job of a ``SlurmCluster``. The statements above about
/// processes, sessions and file descriptors apply to commands on this machine only.
public final class CommandOperation: AsyncOperation<CommandResult>, @unchecked Sendable {
  /// The command.
  public let command: Command
  /// Where the command runs.
  public let place: CommandPlace

  /// Creates an operation for a command.
  ///
  /// The kind of the operation is the last part of the program's path, or `sh` for a shell text.
  ///
  /// - Parameters:
  ///   - command: The command. Nothing is checked before the operation starts.
  ///   - name: The operation's name; `nil`, the default, for the name of the command.
  ///   - priority: The operation's priority in its queue.
  ///   - dependencies: The operations that must finish before this one can start.
  ///   - place: Where the command runs; by default on this machine.
  public init(
    _ command: Command, name: String? = nil, priority: QueuePriority = .normal,
    dependencies: [Operation] = [], on place: CommandPlace = .thisMachine
  ) {
    self.command = command
    self.place = place
    super.init()
    self.name = name ?? command.name
    kind = command.kind
    queuePriority = priority
    for dependency in dependencies { addDependency(dependency) }
  }

  /// Runs the command. Called by the library, once.
  ///
  /// - Returns: The result, if the command has ended with the exit status 0.
  /// - Throws: ``CommandError``; `CancellationError` if the operation is cancelled.
  public override func run() async throws -> CommandResult {
    let run = CommandRun(command, CommandReport(to: self))
    switch place.kind {
    case .thisMachine: return try await run.result { await DirectRun(run: run).perform() }
    case .slurm(let cluster, let resources):
      let job = SlurmRun(run: run, cluster: cluster, resources: resources)
      return try await run.result(waitingForPlace: false) { await job.perform() }
    }
  }
}
