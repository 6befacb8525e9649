// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

// This file contains the execution of viewers' commands.

extension Collector {
  /// Carries out the commands of the sessions, and delivers the results.
  func carryOutCommands(_ table: CollectorTable) {
    for (command, session) in takeCommands() {
      let result =
        session.isReadOnly
        ? CommandResult(
          command: command, outcomes: Array(repeating: .denied, count: command.outcomeCount))
        : result(of: command, from: session.origin, table)
      session.audit(result)
      session.deliver(result)
    }
  }

  private func result(
    of command: MonitorCommand, from origin: CommandOrigin?, _ table: CollectorTable
  ) -> CommandResult {
    var result = CommandResult(command: command, outcomes: [])
    switch command {
    case .cancel(let ids):
      result.outcomes = ids.map { cancel($0, for: origin, table) }
    case .cancelWithDependents(let ids):
      for queue in QueueRegistry.queues { table.takeUpAll(of: queue) }
      ring(.changes)
      // The dependents are cancelled first. If a cancelled operation finishes at once, its
      // dependents would otherwise start.
      result.dependents = table.allDependents(of: Set(ids)).filter {
        cancel($0, for: origin, table) == .requested
      }
      result.outcomes = ids.map { cancel($0, for: origin, table) }
    case .changePriority(let ids, let steps):
      result.outcomes = ids.map { perform(on: $0, table) { $0.queuePriority.move(by: steps) } }
    case .setSuspended(let id, let isSuspended):
      result.outcomes = perform(on: id) { $0.isSuspended = isSuspended }
    case .setWidth(let id, let width):
      result.outcomes = perform(on: id) {
        $0.maxConcurrentOperationCount =
          width ?? OperationQueue.defaultMaxConcurrentOperationCount
      }
    case .setStartLimit(let id, let limit):
      result.outcomes = perform(on: id) { $0.startLimit = limit.map { OperationStartLimit($0) } }
    case .retry(let ids, let names): result = table.retry(ids, names: names)
    case .setHeld: result = CommandResult(refused: command, CommandResult.cannotHold)
    }
    return result
  }

  private func cancel(
    _ id: OperationReport.ID, for origin: CommandOrigin?, _ table: CollectorTable
  ) -> CommandResult.Outcome {
    let outcome = perform(on: id, table) { operation in
      if let origin {
        operation.cancel(forProcess: origin.processID, ofUser: origin.userID)
      } else {
        operation.cancel()
      }
    }
    if let origin, outcome == .requested {
      table.noteCancelRequester(origin, of: id)
      // The queue does not report a change if the operation was already asked to cancel.
      ring(.changes)
    }
    return outcome
  }

  private func perform(
    on id: OperationReport.ID, _ table: CollectorTable, _ body: (Operation) -> Void
  ) -> CommandResult.Outcome {
    guard table.entries[id] != nil else { return .unknown }
    guard let operation = table.operation(id), !operation.isFinished else {
      return .alreadyFinished
    }
    body(operation)
    return .requested
  }

  private func perform(
    on id: QueueReport.ID, _ body: (OperationQueue) -> Void
  ) -> [CommandResult.Outcome] {
    guard let queue = QueueRegistry.queue(id) else { return [.unknown] }
    body(queue)
    return [.requested]
  }
}

extension Operation.QueuePriority {
  /// Raises or lowers an operation's priority by some levels, up to the highest or lowest level.
  mutating func move(by steps: Int) {
    let levels: [Self] = [.veryLow, .low, .normal, .high, .veryHigh]
    guard let index = levels.firstIndex(of: self) else { return }
    self = levels[min(max(0, index + steps), levels.count - 1)]
  }
}
