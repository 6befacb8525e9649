// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands

// The library has another type of this name.
import struct MonitorProtocol.CommandResult

/// A command of the viewer, as a change of jobs, and its result.
struct SlurmOrder: Sendable {
  /// The change that Slurm makes.
  let change: SlurmWatch.Change
  /// The ids of the jobs that change, for commands; see ``WatchedSlurmJob/commandID``. They are in the order in which
  /// they change.
  private(set) var jobs: [String] = []

  private let command: MonitorCommand
  private let dependents: [OperationReport.ID]
  /// The outcomes that are known without Slurm.
  private var outcomes: [OperationReport.ID: CommandResult.Outcome] = [:]
  private var refusals: [OperationReport.ID: String] = [:]
  /// The positions of operations in `jobs`.
  private var positions: [OperationReport.ID: Int] = [:]

  /// The reason why an order does not change a queue.
  static let cannotChangePartition = "opq-top does not change partitions of Slurm"
  /// The reason why an order does not change a priority.
  static let cannotChangePriority = "opq-top does not change priorities of Slurm"
  /// The reason why an order does not change tasks that are one job, if the numbers of all tasks are not known.
  static let cannotNameTasks =
    "opq-top does not know all tasks of this part of the array; use a command of Slurm"

  /// Creates an order; `nil` if Slurm cannot carry out the command. Then ``refusal(of:)`` is its result.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - picture: The jobs.
  ///   - dependents: A function that returns the direct dependents of an operation.
  init?(
    _ command: MonitorCommand, of picture: SlurmPicture,
    dependents: (OperationReport.ID) -> [OperationReport.ID]
  ) {
    self.command = command
    let ids: [OperationReport.ID]
    switch command {
    case .cancel(let named): (ids, self.dependents, change) = (named, [], .cancel)
    case .cancelWithDependents(let named):
      ids = named
      self.dependents = Self.all(named, dependents)
      change = .cancel
    case .setHeld(let named, let isHeld):
      (ids, self.dependents, change) = (named, [], isHeld ? .hold : .release)
    case .setSuspended, .setWidth, .setStartLimit, .changePriority, .retry: return nil
    }
    // The dependents are cancelled first. Otherwise one of them could start.
    for id in self.dependents + ids where outcomes[id] == nil && positions[id] == nil {
      add(id, of: picture)
    }
  }

  private mutating func add(_ id: OperationReport.ID, of picture: SlurmPicture) {
    guard let job = picture.jobs[id] else {
      outcomes[id] = .unknown
      return
    }
    guard !job.isOver else {
      outcomes[id] = .alreadyFinished
      return
    }
    guard let name = job.shown.commandID else {
      outcomes[id] = .refused
      refusals[id] = Self.cannotNameTasks
      return
    }
    positions[id] = jobs.count
    jobs.append(name)
  }

  /// Returns all direct and indirect dependents of operations, in ascending order.
  private static func all(
    _ ids: [OperationReport.ID], _ dependents: (OperationReport.ID) -> [OperationReport.ID]
  ) -> [OperationReport.ID] {
    var seen = Set(ids)
    var open = ids
    while let id = open.popLast() {
      open += dependents(id).filter { seen.insert($0).inserted }
    }
    return seen.subtracting(ids).sorted()
  }

  /// Returns the result of the command.
  ///
  /// - Parameter results: The result for each of ``jobs``.
  /// - Returns: The result.
  func result(_ results: [SlurmWatch.ChangeResult]) -> CommandResult {
    var outcomes = outcomes
    var refusals = refusals
    for (id, position) in positions {
      switch results.indices.contains(position) ? results[position] : .lost {
      case .accepted: outcomes[id] = .requested
      case .refused(let words):
        outcomes[id] = .refused
        refusals[id] = "Slurm says “\(words)”"
      case .lost: outcomes[id] = .lost
      }
    }
    let ids = ids
    var result = CommandResult(command: command, outcomes: ids.map { outcomes[$0] ?? .unknown })
    for (index, id) in ids.enumerated() { result.refusals[index] = refusals[id] }
    result.dependents = dependents.filter { outcomes[$0] == .requested }
    return result
  }

  private var ids: [OperationReport.ID] {
    switch command {
    case .cancel(let ids), .cancelWithDependents(let ids), .changePriority(let ids, _),
      .setHeld(let ids, _), .retry(let ids, _):
      ids
    case .setSuspended, .setWidth, .setStartLimit: []
    }
  }

  /// Returns the result of a command that Slurm cannot carry out.
  static func refusal(of command: MonitorCommand) -> CommandResult {
    switch command {
    case .setSuspended, .setWidth, .setStartLimit:
      CommandResult(refused: command, cannotChangePartition)
    case .changePriority: CommandResult(refused: command, cannotChangePriority)
    case .retry(let ids, let names):
      CommandResult(cannotRetry: command, count: ids.count + names.count)
    case .cancel, .cancelWithDependents, .setHeld:
      CommandResult(refused: command, CommandResult.cannotHold)
    }
  }
}
