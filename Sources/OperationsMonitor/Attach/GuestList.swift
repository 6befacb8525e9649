// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Logging
import MonitorProtocol
import OperationsCore

/// Who may watch this process, and what is written down of what they do. Any thread.
final class GuestList: Sendable {
  /// More viewers are not let in at a time.
  static let limit = 8

  private struct State {
    var mode: OperationMonitor.Mode
    var count = 0
  }

  private let state: Locked<State>
  let logger: Logger

  init(mode: OperationMonitor.Mode, logger: Logger) {
    state = Locked(State(mode: mode))
    self.logger = logger
  }

  /// What viewers that come may do.
  var mode: OperationMonitor.Mode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }

  /// Whether a process of this user may connect; writes down where not.
  func mayEnter(_ origin: CommandOrigin) -> Bool {
    if origin.userID == geteuid() || origin.userID == 0 { return true }
    logger.warning("refused a viewer of another user", metadata: Self.metadata(origin))
    return false
  }

  /// Lets in one more.
  ///
  /// - Returns: Whether there was room.
  func enter() -> Bool {
    state.withLock { state in
      guard state.count < Self.limit else { return false }
      state.count += 1
      return true
    }
  }

  /// One that was let in has gone.
  func leave() { state.withLock { $0.count -= 1 } }

  /// Writes down what a viewer has commanded, and what became of it.
  func note(_ result: CommandResult, from origin: CommandOrigin) {
    var metadata = Self.metadata(origin)
    let counts = Dictionary(grouping: result.outcomes, by: \.rawValue).mapValues(\.count)
    metadata["outcome"] =
      "\(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
    logger.notice("\(result.command.summary)", metadata: metadata)
  }

  private static func metadata(_ origin: CommandOrigin) -> Logger.Metadata {
    ["pid": "\(origin.processID)", "uid": "\(origin.userID)"]
  }
}

extension MonitorCommand {
  /// What it asks for, in a few words; of many operations the first ones.
  var summary: String {
    switch self {
    case .cancel(let ids): "cancel \(Self.list(ids))"
    case .cancelWithDependents(let ids): "cancel with dependents \(Self.list(ids))"
    case .setSuspended(let queue, let isSuspended):
      "\(isSuspended ? "suspend" : "resume") queue \(queue.rawValue)"
    case .setWidth(let queue, let width):
      "set the width of queue \(queue.rawValue) to \(width.map(String.init) ?? "the default")"
    case .changePriority(let ids, let steps):
      "\(steps < 0 ? "lower" : "raise") the priority of \(Self.list(ids))"
    }
  }

  private static func list(_ ids: [OperationReport.ID]) -> String {
    let named = ids.prefix(8).map { "\($0)" }.joined(separator: ", ")
    return ids.count > 8 ? "\(named) and \(ids.count - 8) more" : named
  }
}
