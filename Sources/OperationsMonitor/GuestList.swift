// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import Dispatch
import Logging
import MonitorProtocol
import NIOCore
import OperationsCollector
import OperationsCore

/// The connected viewers of this process, and the log of their actions. All members can be used on
/// any thread.
final class GuestList: Sendable {
  /// The maximum number of viewers that can be connected at once.
  static let limit = 8

  /// The result of a viewer's attempt to connect.
  enum Entry {
    case isIn
    /// The maximum number of viewers is already connected.
    case isFull
    /// The process no longer listens.
    case isClosed
  }

  /// A way to end the connection of a viewer.
  enum Parting: Sendable, Equatable {
    /// Send the last update and then a farewell message with this reason. If `waitsForViewer` is
    /// `true`, the viewer leaves the list when it has read everything. If it is `false`, the viewer
    /// leaves the list when everything is sent.
    case afterLastUpdate(reason: String, waitsForViewer: Bool)
    /// Send a farewell message with this reason, without a last update. The viewer leaves the list
    /// when it has read the message.
    case withoutUpdate(reason: String)
    /// Close the connection at once.
    case cutOff
  }

  private struct State {
    var mode: OperationMonitor.Mode
    /// The closures that disconnect the viewers, by viewer.
    var farewells: [ObjectIdentifier: @Sendable (Parting) -> Void] = [:]
    var isClosed = false
    /// The semaphores that are signalled when no viewer is connected.
    var emptySignals: [DispatchSemaphore] = []
    /// For each kind of log line, the number of lines that may still be written; see ``Line``.
    var allowances = [LogAllowance(limit: 10), LogAllowance(limit: 100)]
  }

  private enum Line: Int {
    case refusal
    case result
  }

  private let state: Locked<State>
  private let givenLogger: Logger?
  private let loop: any EventLoop
  /// The viewer that has started this process; `nil` if there is none.
  let awaitedViewer: AwaitedViewer?
  /// Counts the attached viewers that may send commands.
  let controllers: ControllerCount

  /// Creates a list without viewers.
  ///
  /// - Parameters:
  ///   - mode: The permissions of viewers.
  ///   - logger: The logger for the actions of viewers. If it is `nil`, a new logger is created for
  ///     each line, so that a program can configure its logging later.
  ///   - loop: The event loop on which delayed log lines are written.
  ///   - awaitedViewer: The viewer that has started this process; `nil` if there is none.
  ///   - controllers: Counts the attached viewers that may send commands.
  init(
    mode: OperationMonitor.Mode, logger: Logger?, loop: any EventLoop,
    awaitedViewer: AwaitedViewer? = nil, controllers: ControllerCount = ControllerCount()
  ) {
    state = Locked(State(mode: mode))
    givenLogger = logger
    self.loop = loop
    self.awaitedViewer = awaitedViewer
    self.controllers = controllers
  }

  /// The permissions of viewers that connect later.
  var mode: OperationMonitor.Mode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }

  // MARK: Entering and leaving

  /// Returns whether a process may connect as a viewer. Logs a refusal.
  func mayEnter(_ origin: CommandOrigin) -> Bool {
    if origin.userID == cmonitor_user_id() || origin.userID == 0 { return true }
    noteRefusal("its process belongs to another user", origin)
    return false
  }

  /// Admits a viewer, unless the maximum number of viewers is reached or the process no longer
  /// listens.
  ///
  /// - Parameters:
  ///   - guest: The identity of the viewer's connection.
  ///   - farewell: A closure that disconnects the viewer. It is called on any thread and must not
  ///     block.
  /// - Returns: Whether the viewer is admitted; if not, the reason.
  func enter(
    _ guest: ObjectIdentifier, farewell: @escaping @Sendable (Parting) -> Void
  ) -> Entry {
    state.withLock { state in
      if state.isClosed { return .isClosed }
      guard state.farewells.count < Self.limit else { return .isFull }
      state.farewells[guest] = farewell
      return .isIn
    }
  }

  /// Removes a viewer that has disconnected.
  func leave(_ guest: ObjectIdentifier) {
    // The removed closure, which would disconnect the viewer, is released after the lock is
    // unlocked.
    let (farewell, signals) = state.withLock { state in
      let farewell = state.farewells.removeValue(forKey: guest)
      guard state.farewells.isEmpty else { return (farewell, [DispatchSemaphore]()) }
      defer { state.emptySignals = [] }
      return (farewell, state.emptySignals)
    }
    withExtendedLifetime(farewell) {}
    for signal in signals { signal.signal() }
  }

  /// Stops admitting viewers, and disconnects all viewers in this way.
  func close(_ parting: Parting) {
    let farewells = state.withLock { state in
      state.isClosed = true
      return Array(state.farewells.values)
    }
    for farewell in farewells { farewell(parting) }
  }

  /// Waits until no viewer is connected, but not longer than until `deadline`.
  func waitUntilEmpty(until deadline: DispatchTime) {
    let signal = DispatchSemaphore(value: 0)
    let isEmpty = state.withLock { state in
      if !state.farewells.isEmpty { state.emptySignals.append(signal) }
      return state.farewells.isEmpty
    }
    if !isEmpty { _ = signal.wait(timeout: deadline) }
  }

  // MARK: Logging

  /// Logs the reason why a viewer was refused or disconnected.
  func noteRefusal(_ reason: String, _ origin: CommandOrigin) {
    // The reason may contain text that the viewer has sent.
    write("refused a viewer: \(reason.inLog)", .warning, .refusal, Self.metadata(origin))
  }

  /// Logs a viewer's command and its result.
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
    switch state.withLock({ $0.allowances[kind.rawValue].take(at: MonitorTime.now) }) {
    case .write: logger.log(level: level, "\(text)", metadata: metadata)
    case .omitFirst:
      loop.scheduleTask(in: .seconds(1)) { [self] in
        let count = state.withLock { $0.allowances[kind.rawValue].takeOmitted() }
        logger.log(level: level, "\(count) more messages were not logged")
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
  /// The beginning of the text, in which a replacement character replaces each character that could
  /// forge a log line or control a terminal.
  var inLog: String {
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
  /// A short description of the command, with the name of the queue. It names at most eight operations.
  var summary: String {
    switch self {
    case .cancel(let ids): "cancel \(Self.list(ids))"
    case .cancelWithDependents(let ids): "cancel with dependents \(Self.list(ids))"
    case .setSuspended(let queue, let isSuspended):
      "\(isSuspended ? "suspend" : "resume") \(Self.name(of: queue))"
    case .setWidth(let queue, let width):
      "set the width of \(Self.name(of: queue)) to \(width.map(String.init) ?? "the default")"
    case .setStartLimit(let queue, let limit):
      "set the rate of \(Self.name(of: queue)) to \(limit?.text ?? "no limit")"
    case .changePriority(let ids, let steps):
      "\(steps < 0 ? "lower" : "raise") the priority of \(Self.list(ids))"
    case .retry(let ids, let names):
      "retry \(Self.list(ids.map { "\($0)" } + names.map(\.inLog)))"
    case .setHeld(let ids, let isHeld): "\(isHeld ? "hold" : "release") \(Self.list(ids))"
    }
  }

  /// Returns the name of a queue without characters that could forge a log line; its id if the queue no longer
  /// exists.
  private static func name(of id: QueueReport.ID) -> String {
    let queue = QueueRegistry.queues.first { $0.id.rawValue == id.rawValue }
    return queue?.givenName.inLog ?? "queue \(id.rawValue)"
  }

  private static func list(_ items: [some CustomStringConvertible]) -> String {
    let named = items.prefix(8).map { "\($0)" }.joined(separator: ", ")
    return items.count > 8 ? "\(named) and \(items.count - 8) more" : named
  }
}
