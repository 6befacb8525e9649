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

  /// For so long an answer may take: one that is stopped does not keep those of the others back.
  static let patience = Duration.seconds(2)

  /// A command that is not answered by all.
  private struct Pending {
    let command: MonitorCommand
    /// When the viewer is told, whoever has answered.
    let due: MonitorTime
    /// For each outcome the process that says it; `nil` where there is none.
    let processes: [Int?]
    var waiting: [Order]
    var answers: [Int: CommandResult] = [:]
    /// What the viewer was told while some had not answered.
    var told: CommandResult?
  }

  private let count: Int
  private var pending: [Pending] = []

  /// Of the processes with the numbers from 1 to this one.
  init(count: Int) { self.count = count }

  /// When an answer is due that has not come; `nil` where none is missing.
  var deadline: MonitorTime? { pending.lazy.filter { $0.told == nil }.map(\.due).min() }

  /// The viewer gives a command.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - now: The present time.
  /// - Returns: Whom to tell what, by number; nobody where no process has what it is about, which is
  ///   answered at once.
  mutating func give(
    _ command: MonitorCommand, at now: MonitorTime
  ) -> (orders: [Order], result: CommandResult?) {
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
    let new = Pending(
      command: command, due: now + Self.patience, processes: processes, waiting: orders)
    guard !orders.isEmpty else { return ([], Self.result(of: new)) }
    pending.append(new)
    return (orders, nil)
  }

  /// A process answers.
  ///
  /// - Returns: The answer for the viewer, where this was the last that it takes, and says more than the
  ///   viewer was told meanwhile.
  mutating func take(_ answer: CommandResult, from process: Int) -> CommandResult? {
    let order = Order(process: process, command: answer.command)
    // The same command given twice is answered twice, in this order.
    guard let index = pending.firstIndex(where: { $0.waiting.contains(order) }) else { return nil }
    pending[index].waiting.removeAll { $0 == order }
    pending[index].answers[process] = answer
    guard pending[index].waiting.isEmpty else { return nil }
    let complete = pending.remove(at: index)
    let result = Self.result(of: complete)
    return result == complete.told ? nil : result
  }

  /// The answers that are due: what becomes of a command where a process has not answered is not known.
  mutating func takeOverdue(at now: MonitorTime) -> [CommandResult] {
    pending.indices.compactMap { index in
      guard pending[index].told == nil, pending[index].due <= now else { return nil }
      let result = Self.result(of: pending[index])
      pending[index].told = result
      return result
    }
  }

  private func process(_ number: Int) -> Int? {
    number >= 1 && number <= count ? number : nil
  }

  private static func result(of pending: Pending) -> CommandResult {
    var outcomes = pending.answers.mapValues { $0.outcomes[...] }
    return CommandResult(
      command: pending.command,
      outcomes: pending.processes.map { number in
        guard let number else { return .unknown }
        if pending.waiting.contains(where: { $0.process == number }) { return .lost }
        return outcomes[number]?.popFirst() ?? .unknown
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
