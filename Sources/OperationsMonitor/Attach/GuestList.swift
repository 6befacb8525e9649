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
    /// Says goodbye to each of those that are in.
    var farewells: [ObjectIdentifier: @Sendable () -> Void] = [:]
    var isClosed = false
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
  /// - Parameters:
  ///   - guest: Who.
  ///   - farewell: Called on any thread when nobody may stay; must not block.
  /// - Returns: Whether there was room.
  func enter(_ guest: ObjectIdentifier, farewell: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard state.farewells.count < Self.limit, !state.isClosed else { return false }
      state.farewells[guest] = farewell
      return true
    }
  }

  /// One that was let in has gone.
  func leave(_ guest: ObjectIdentifier) {
    // It leaves the lock before it is released.
    withExtendedLifetime(state.withLock { $0.farewells.removeValue(forKey: guest) }) {}
  }

  /// Lets nobody in any more, and asks all to go.
  func close() {
    let farewells = state.withLock { state in
      state.isClosed = true
      return Array(state.farewells.values)
    }
    for farewell in farewells { farewell() }
  }

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
