// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A command of a viewer to the monitored process.
public enum MonitorCommand: Sendable, Equatable {
  /// Calls `cancel()` on each of these operations.
  case cancel([OperationReport.ID])
  /// Calls `cancel()` on each of these operations, and on each operation that depends on any of
  /// them, directly or indirectly. The number of dependents has no limit.
  case cancelWithDependents([OperationReport.ID])
  /// Suspends or resumes a queue.
  case setSuspended(QueueReport.ID, Bool)
  /// Sets the maximum number of operations that a queue executes at once; if the number is `nil`,
  /// the system decides.
  case setWidth(QueueReport.ID, Int?)
  /// Sets the maximum number of operations that a queue starts in a period; if the limit is `nil`, removes it. Since
  /// version 1.4 of the protocol. If the process uses an earlier version, the outcome is
  /// ``CommandResult/Outcome/refused``.
  case setStartLimit(QueueReport.ID, QueueReport.StartLimit?)
  /// Raises the priority of each of these operations by a number of levels. A negative number
  /// lowers the priority.
  case changePriority([OperationReport.ID], by: Int)
  /// Retries jobs: the jobs with the names of these operations, and further jobs, which may
  /// have no operation. Since version 1.3 of the protocol. If ``Hello/canRetry`` is `false`, the
  /// outcomes are ``CommandResult/Outcome/notRetryable``.
  case retry([OperationReport.ID], names: [String] = [])
  /// Holds each of these operations if the value is `true`, and releases it if the value is `false`. A held operation
  /// does not start. The command is not a part of the protocol, because processes cannot hold operations. Only a
  /// source inside the viewer can. If ``Hello/canHold`` is `false`, the outcomes are
  /// ``CommandResult/Outcome/refused``.
  case setHeld([OperationReport.ID], Bool)
}

/// The result of a ``MonitorCommand``.
public struct CommandResult: Sendable, Equatable {
  /// The outcome for one operation or queue.
  public enum Outcome: String, Encodable, Sendable {
    /// The process has carried out the command for this operation or queue. A cancellation is only
    /// a request, and the operation's code decides how to react.
    case requested
    /// The operation had already finished. Nothing changed.
    case alreadyFinished
    /// No operation or queue with this id is known.
    case unknown
    /// The monitored process refuses commands.
    case denied
    /// The process does not retry the job. ``CommandResult/refusals`` contains the reason.
    case notRetryable
    /// The source does not carry out the command. ``CommandResult/refusals`` contains the reason. A viewer creates this
    /// outcome; a process never sends it.
    case refused
    /// The connection was lost before the result arrived. The command may have been carried out. A
    /// viewer creates this outcome; a process never sends it.
    case lost
  }

  /// The command that the process received.
  public var command: MonitorCommand
  /// One outcome for each operation of the command, in the command's order, and then one outcome for
  /// each of its names; or one outcome for a queue.
  public var outcomes: [Outcome]
  /// The ids of the dependents that were also asked to cancel, ascending. A process sends at most
  /// ``WireLimits/mostDependentsOfResult`` of them.
  public var dependents: [OperationReport.ID]
  /// The reasons for ``Outcome/notRetryable`` and ``Outcome/refused``, by the index in ``outcomes``. A reason is a
  /// sentence without a full stop; unsanitised. A process sends at most ``WireLimits/mostRefusalBytes`` of
  /// them.
  public var refusals: [Int: String] = [:]

  /// The reason of a process that cannot retry jobs, or whose version of the protocol does not know
  /// the command.
  package static let cannotRetry = "the process cannot retry jobs"

  /// The reason of a process whose version of the protocol does not know ``MonitorCommand/setStartLimit(_:_:)``.
  package static let cannotSetStartLimit = "the process cannot limit the starts of a queue"

  /// The reason why a process refuses ``MonitorCommand/setHeld(_:_:)``. It names the only source that carries out the
  /// command.
  package static let cannotHold = "only jobs in \"opq-top attach slurm\" can be held and released"

  /// Creates the result of a command.
  public init(
    command: MonitorCommand, outcomes: [Outcome], dependents: [OperationReport.ID] = []
  ) {
    self.command = command
    self.outcomes = outcomes
    self.dependents = dependents
  }

  /// Creates the result of a command to retry a number of jobs, if the process cannot do this.
  package init(cannotRetry command: MonitorCommand, count: Int) {
    self.init(command: command, outcomes: Array(repeating: .notRetryable, count: count))
    for index in 0..<count { refusals[index] = Self.cannotRetry }
  }

  /// Creates the result of a command that is refused for all its operations or for its queue.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - reason: The reason, a sentence without a full stop.
  package init(refused command: MonitorCommand, _ reason: String) {
    let count = command.outcomeCount
    self.init(command: command, outcomes: Array(repeating: .refused, count: count))
    for index in 0..<count { refusals[index] = reason }
  }
}

extension MonitorCommand {
  /// The number of outcomes that the result of the command has.
  package var outcomeCount: Int {
    switch self {
    case .cancel(let ids), .cancelWithDependents(let ids), .changePriority(let ids, _),
      .setHeld(let ids, _):
      ids.count
    case .retry(let ids, let names): ids.count + names.count
    case .setSuspended, .setWidth, .setStartLimit: 1
    }
  }
}

/// The viewer that sent a command.
public struct CommandOrigin: Sendable, Equatable {
  /// The id of the viewer's process, as the system of the monitored process sees it; 0 if the
  /// process is not visible there.
  public var processID: Int32
  /// The id of the user of the viewer's process.
  public var userID: UInt32

  /// Creates the description of a sender.
  public init(processID: Int32, userID: UInt32) {
    self.processID = processID
    self.userID = userID
  }
}
