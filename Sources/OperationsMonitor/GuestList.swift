// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Logging
import MonitorProtocol
import NIOCore
import OperationsCollector
import OperationsCore

/// Who may watch this process, and what is written down of what they do. Any thread.
final class GuestList: Sendable {
  /// More viewers are not let in at a time.
  static let limit = 8

  /// What became of one that wants to come in.
  enum Entry {
    case isIn
    /// As many as may be are in.
    case isFull
    /// The process listens no more.
    case isClosed
  }

  private struct State {
    var mode: OperationMonitor.Mode
    /// Says goodbye to each of those that are in.
    var farewells: [ObjectIdentifier: @Sendable () -> Void] = [:]
    var isClosed = false
    /// What may be written of each kind of line; see ``Line``.
    var allowances = [LogAllowance(limit: 10), LogAllowance(limit: 100)]
  }

  private enum Line: Int {
    case refusal
    case result
  }

  private let state: Locked<State>
  private let givenLogger: Logger?
  private let loop: any EventLoop

  /// - Parameters:
  ///   - mode: What viewers may do.
  ///   - logger: Is told of them; `nil` for one that is made for each line, after the program has said
  ///     where lines go.
  ///   - loop: What does not block, but for what the logger does.
  init(mode: OperationMonitor.Mode, logger: Logger?, loop: any EventLoop) {
    state = Locked(State(mode: mode))
    givenLogger = logger
    self.loop = loop
  }

  /// What viewers that come may do.
  var mode: OperationMonitor.Mode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }

  // MARK: Coming and going

  /// Whether a process of this user may connect; writes down where not.
  func mayEnter(_ origin: CommandOrigin) -> Bool {
    if origin.userID == geteuid() || origin.userID == 0 { return true }
    noteRefusal("it is another user's", origin)
    return false
  }

  /// Lets in one more.
  ///
  /// - Parameters:
  ///   - guest: Who.
  ///   - farewell: Called on any thread when nobody may stay; must not block.
  /// - Returns: Whether it is in.
  func enter(_ guest: ObjectIdentifier, farewell: @escaping @Sendable () -> Void) -> Entry {
    state.withLock { state in
      if state.isClosed { return .isClosed }
      guard state.farewells.count < Self.limit else { return .isFull }
      state.farewells[guest] = farewell
      return .isIn
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

  // MARK: Writing down

  /// Writes down why a viewer was not let in, or was sent away.
  func noteRefusal(_ reason: String, _ origin: CommandOrigin) {
    // What it has sent may be part of that.
    write("refused a viewer: \(reason.inLog)", .warning, .refusal, Self.metadata(origin))
  }

  /// Writes down what a viewer has commanded, and what became of it.
  func note(_ result: CommandResult, from origin: CommandOrigin) {
    var metadata = Self.metadata(origin)
    let counts = Dictionary(grouping: result.outcomes, by: \.rawValue).mapValues(\.count)
    metadata["outcome"] =
      "\(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
    write(result.command.summary, .notice, .result, metadata)
  }

  private func write(
    _ text: String, _ level: Logger.Level, _ kind: Line, _ metadata: Logger.Metadata
  ) {
    switch state.withLock({ $0.allowances[kind.rawValue].take(at: ProcessFacts.now) }) {
    case .write: logger.log(level: level, "\(text)", metadata: metadata)
    case .omitFirst:
      loop.scheduleTask(in: .seconds(1)) { [self] in
        let count = state.withLock { $0.allowances[kind.rawValue].takeOmitted() }
        logger.log(level: level, "\(count) more were not written down: there were too many")
      }
    case .omit: break
    }
  }

  private var logger: Logger { givenLogger ?? Logger(label: "opq") }

  private static func metadata(_ origin: CommandOrigin) -> Logger.Metadata {
    ["pid": "\(origin.processID)", "uid": "\(origin.userID)"]
  }
}

extension String {
  /// Its beginning, without what could forge a line, or do something to a terminal that shows it.
  fileprivate var inLog: String {
    let scalars = unicodeScalars.prefix(500).map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        "\u{FFFD}"
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(scalars))
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
