// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Splits the commands of a viewer that watches several processes. A command becomes one command
/// for each process that has its operations or its queue. The results of these processes become one
/// result.
struct SplitCommands {
  /// A command, and the number of the process that receives it.
  struct Order: Equatable {
    let process: Int
    let command: MonitorCommand
  }

  /// The maximum time to wait for the results of all processes. The limit keeps a stopped process
  /// from delaying the results of the other processes.
  static let patience = Duration.seconds(2)

  /// A command for which some processes have not sent their results.
  private struct Pending {
    let command: MonitorCommand
    /// The time at which the viewer receives a result, even if some processes have not answered.
    let due: MonitorTime
    /// For each outcome of the command, the number of the process that reports the outcome; `nil`
    /// if no process reports the outcome.
    let processes: [Int?]
    var waiting: [Order]
    var answers: [Int: CommandResult] = [:]
    /// The incomplete result that the viewer has already received; `nil` if it has received none.
    var reported: CommandResult?
  }

  private let count: Int
  private var pending: [Pending] = []

  /// Creates a value that splits commands among the processes with the numbers from 1 to `count`.
  init(count: Int) { self.count = count }

  /// The time at which the next incomplete result is due; `nil` if no result is due.
  var deadline: MonitorTime? { pending.lazy.filter { $0.reported == nil }.map(\.due).min() }

  /// Splits a command of the viewer.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - now: The current time.
  /// - Returns: The commands for the processes, in the order of the process numbers. If no process
  ///   has the command's operations, the list is empty and `result` is not `nil`.
  mutating func give(
    _ command: MonitorCommand, at now: MonitorTime
  ) -> (orders: [Order], result: CommandResult?) {
    let processes: [Int?]
    var orders: [Order] = []
    switch command {
    case .cancel(let ids), .cancelWithDependents(let ids), .changePriority(let ids, _),
      .setHeld(let ids, _):
      processes = ids.map { process($0.processNumber) }
      orders = self.orders(for: command, about: ids)
    case .retry(let ids, let names):
      // A name does not say which process has the job.
      processes = ids.map { process($0.processNumber) } + names.map { _ in nil }
      orders = self.orders(for: command, about: ids)
    case .setSuspended(let queue, let isSuspended):
      processes = [process(queue.processNumber)]
      orders = processes.compactMap { $0 }.map {
        Order(process: $0, command: .setSuspended(queue.withinProcess, isSuspended))
      }
    case .setWidth(let queue, let width):
      processes = [process(queue.processNumber)]
      orders = processes.compactMap { $0 }.map {
        Order(process: $0, command: .setWidth(queue.withinProcess, width))
      }
    case .setStartLimit(let queue, let limit):
      processes = [process(queue.processNumber)]
      orders = processes.compactMap { $0 }.map {
        Order(process: $0, command: .setStartLimit(queue.withinProcess, limit))
      }
    }
    let new = Pending(
      command: command, due: now + Self.patience, processes: processes, waiting: orders)
    guard !orders.isEmpty else { return ([], Self.result(of: new)) }
    pending.append(new)
    return (orders, nil)
  }

  /// Handles a result of a process.
  ///
  /// - Returns: The result for the viewer, if this was the last missing part and it differs from an
  ///   earlier incomplete result.
  mutating func take(_ answer: CommandResult, from process: Int) -> CommandResult? {
    let order = Order(process: process, command: answer.command)
    // If the viewer sends the same command twice, the results are assigned in the order of the
    // commands.
    guard let index = pending.firstIndex(where: { $0.waiting.contains(order) }) else { return nil }
    pending[index].waiting.removeAll { $0 == order }
    pending[index].answers[process] = answer
    guard pending[index].waiting.isEmpty else { return nil }
    let complete = pending.remove(at: index)
    let result = Self.result(of: complete)
    return result == complete.reported ? nil : result
  }

  /// Returns the incomplete results that are due. The outcomes of processes that have not answered
  /// are ``CommandResult/Outcome/lost``.
  mutating func takeOverdue(at now: MonitorTime) -> [CommandResult] {
    pending.indices.compactMap { index in
      guard pending[index].reported == nil, pending[index].due <= now else { return nil }
      let result = Self.result(of: pending[index])
      pending[index].reported = result
      return result
    }
  }

  /// Returns one command for each process that has some of these operations.
  private func orders(
    for command: MonitorCommand, about ids: [OperationReport.ID]
  ) -> [Order] {
    let own = Dictionary(grouping: ids) { $0.processNumber }
    return own.keys.sorted().compactMap { process($0) }.map { number in
      let ids = (own[number] ?? []).map(\.withinProcess)
      return Order(process: number, command: command.about(ids))
    }
  }

  private func process(_ number: Int) -> Int? {
    number >= 1 && number <= count ? number : nil
  }

  private static func result(of pending: Pending) -> CommandResult {
    var outcomes = pending.answers.mapValues { $0.outcomes[...] }
    var refusals: [Int: String] = [:]
    var result = CommandResult(
      command: pending.command,
      outcomes: pending.processes.enumerated().map { index, number in
        guard let number else { return .unknown }
        if pending.waiting.contains(where: { $0.process == number }) { return .lost }
        let own = outcomes[number]?.startIndex ?? 0
        refusals[index] = pending.answers[number]?.refusals[own]
        return outcomes[number]?.popFirst() ?? .unknown
      },
      dependents: pending.answers.keys.sorted().flatMap { number in
        ProcessTranslation(number: number).merged(pending.answers[number]?.dependents ?? [])
      })
    result.refusals = refusals
    return result
  }
}

extension MonitorCommand {
  /// Returns a copy of this command for other operations.
  func about(_ ids: [OperationReport.ID]) -> MonitorCommand {
    switch self {
    case .cancel: .cancel(ids)
    case .cancelWithDependents: .cancelWithDependents(ids)
    case .changePriority(_, let steps): .changePriority(ids, by: steps)
    case .retry: .retry(ids)
    case .setHeld(_, let isHeld): .setHeld(ids, isHeld)
    case .setSuspended, .setWidth, .setStartLimit: self
    }
  }
}
