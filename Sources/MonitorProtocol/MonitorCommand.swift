// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a viewer asks of the monitored process.
public enum MonitorCommand: Sendable, Equatable {
  /// Calls `cancel()` on each of these operations.
  case cancel([OperationReport.ID])
  /// The same, and on each operation that depends on any of them, directly or through others, as far
  /// as ``Dependents/limit`` goes.
  case cancelWithDependents([OperationReport.ID])
  /// Suspends or resumes a queue.
  case setSuspended(QueueReport.ID, Bool)
  /// Sets how many operations a queue runs at once; `nil` leaves it to the system.
  case setWidth(QueueReport.ID, Int?)
  /// Raises the priority of each of these operations by so many levels, or lowers it where negative.
  case changePriority([OperationReport.ID], by: Int)
}

/// What became of a ``MonitorCommand``.
public struct CommandResult: Sendable, Equatable {
  /// The answer for one operation or queue.
  public enum Outcome: String, Encodable, Sendable {
    /// It was asked. For a cancellation that is a request: the operation decides.
    case requested
    /// The operation had already finished; nothing was done.
    case alreadyFinished
    /// No such operation or queue is known.
    case unknown
    /// The monitored process does not take commands.
    case denied
    /// The connection was lost before there was an answer: it was done, or it was not. Only a viewer says
    /// so.
    case lost
  }

  /// The command that this answers.
  public var command: MonitorCommand
  /// One outcome for each operation of the command, in its order; one outcome for a queue.
  public var outcomes: [Outcome]
  /// The dependents that were asked to cancel too, ascending.
  public var dependents: [OperationReport.ID]

  /// Creates a result.
  public init(
    command: MonitorCommand, outcomes: [Outcome], dependents: [OperationReport.ID] = []
  ) {
    self.command = command
    self.outcomes = outcomes
    self.dependents = dependents
  }
}

/// Who has given a command from another process.
public struct CommandOrigin: Sendable, Equatable {
  /// The id of the viewer's process, as the monitored process's system sees it; 0 where it is not
  /// visible there.
  public var processID: Int32
  /// The id of its user.
  public var userID: UInt32

  /// Creates an origin.
  public init(processID: Int32, userID: UInt32) {
    self.processID = processID
    self.userID = userID
  }
}
