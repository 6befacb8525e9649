// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The commands of a viewer of several processes: each becomes one for every process that it is about,
/// and their answers one answer.
struct SplitCommands {
  /// What one process is to be told.
  struct Order: Equatable {
    let process: Int
    let command: MonitorCommand
  }

  /// A command that is not answered by all.
  private struct Pending {
    let command: MonitorCommand
    /// For each outcome the process that says it; `nil` where there is none.
    let processes: [Int?]
    var waiting: [Order]
    var answers: [Int: CommandResult] = [:]
  }

  private let count: Int
  private var pending: [Pending] = []

  /// Of the processes with the numbers from 1 to this one.
  init(count: Int) { self.count = count }

  /// The viewer gives a command.
  ///
  /// - Returns: Whom to tell what, by number; nobody where no process has what it is about, which is
  ///   answered at once.
  mutating func give(_ command: MonitorCommand) -> (orders: [Order], result: CommandResult?) {
    let processes: [Int?]
    var orders: [Order] = []
    switch command {
    case .cancel(let ids), .cancelWithDependents(let ids), .changePriority(let ids, _):
      processes = ids.map { process($0.processNumber) }
      let own = Dictionary(grouping: ids) { $0.processNumber }
      for number in Set(processes.compactMap { $0 }).sorted() {
        let ids = (own[number] ?? []).map(\.withinProcess)
        orders.append(Order(process: number, command: command.about(ids)))
      }
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
    }
    let new = Pending(command: command, processes: processes, waiting: orders)
    guard !orders.isEmpty else { return ([], Self.result(of: new)) }
    pending.append(new)
    return (orders, nil)
  }

  /// A process answers.
  ///
  /// - Returns: The answer for the viewer, where this was the last that it takes.
  mutating func take(_ answer: CommandResult, from process: Int) -> CommandResult? {
    let order = Order(process: process, command: answer.command)
    // The same command given twice is answered twice, in this order.
    guard let index = pending.firstIndex(where: { $0.waiting.contains(order) }) else { return nil }
    pending[index].waiting.removeAll { $0 == order }
    pending[index].answers[process] = answer
    guard pending[index].waiting.isEmpty else { return nil }
    return Self.result(of: pending.remove(at: index))
  }

  private func process(_ number: Int) -> Int? {
    number >= 1 && number <= count ? number : nil
  }

  private static func result(of pending: Pending) -> CommandResult {
    var outcomes = pending.answers.mapValues { $0.outcomes[...] }
    return CommandResult(
      command: pending.command,
      outcomes: pending.processes.map { number in
        number.flatMap { outcomes[$0]?.popFirst() } ?? .unknown
      },
      dependents: pending.answers.keys.sorted().flatMap { number in
        ProcessTranslation(number: number).merged(pending.answers[number]?.dependents ?? [])
      })
  }
}

extension MonitorCommand {
  /// The same about other operations.
  func about(_ ids: [OperationReport.ID]) -> MonitorCommand {
    switch self {
    case .cancel: .cancel(ids)
    case .cancelWithDependents: .cancelWithDependents(ids)
    case .changePriority(_, let steps): .changePriority(ids, by: steps)
    case .setSuspended, .setWidth: self
    }
  }
}
