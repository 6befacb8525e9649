// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of a relay. This type uses no sockets.
struct RelayConversation {
  /// An action that the relay must carry out.
  enum Action: Equatable {
    /// The relay must find its targets, and then call ``RelayConversation/greet(_:)``.
    case find
    /// The relay must send this answer.
    case send(RelayAnswer)
    /// The relay must connect to the socket at a path.
    case connect(connection: UInt32, path: String)
    /// The relay must forward this message to the process.
    case forward(RelayedMessage)
    /// The relay must close a connection. No answer follows.
    case close(connection: UInt32)
    /// The relay must send this farewell, and end.
    case fail(Farewell)
  }

  private enum Phase: Equatable {
    case awaitingHello
    case finding
    case open
    case over
  }

  private var phase = Phase.awaitingHello
  private var targets: [RelayTarget] = []
  private var connections: Set<UInt32> = []
  private var lastConnection: UInt32 = 0

  /// Handles a request of the viewer.
  mutating func take(_ request: RelayRequest) -> [Action] {
    switch request {
    case _ where phase == .over: return []
    case .unknown: return []
    case .hello(let versions):
      guard phase == .awaitingHello else { return fault("the greeting was received twice") }
      guard ProtocolVersions.current.isCompatible(with: versions) else {
        return fail(
          .versionMismatch, "the relay uses version \(ProtocolVersions.current) of the protocol")
      }
      phase = .finding
      return [.find]
    case _ where phase == .awaitingHello: return fault("the first message was not a greeting")
    case .ping(let number): return [.send(.pong(number))]
    case _ where phase == .finding: return fault("a request arrived before the greeting")
    case .open(let connection, let target): return open(connection, to: target)
    case .message(let message):
      return connections.contains(message.connection) ? [.forward(message)] : []
    case .close(let connection):
      return connections.remove(connection) == nil ? [] : [.close(connection: connection)]
    }
  }

  /// Handles the targets that the relay has found.
  mutating func greet(_ targets: [RelayTarget]) -> [Action] {
    guard phase == .finding else { return [] }
    phase = .open
    self.targets = targets
    return [.send(.greeting(targets, versions: .current))]
  }

  private mutating func open(_ connection: UInt32, to target: UInt32) -> [Action] {
    guard connection > lastConnection else {
      return fault("the connection number \(connection) is not larger than \(lastConnection)")
    }
    lastConnection = connection
    guard target <= targets.count else {
      return fault("there is no target \(target); the last one is \(targets.count)")
    }
    let found = targets[Int(target) - 1]
    if let refusal = found.refusal { return [.send(.end(connection: connection, refusal))] }
    connections.insert(connection)
    return [.connect(connection: connection, path: found.path)]
  }

  /// Handles the end of the connection to a process.
  mutating func end(_ connection: UInt32, _ refusal: RelayRefusal) -> [Action] {
    guard phase != .over, connections.remove(connection) != nil else { return [] }
    return [.send(.end(connection: connection, refusal))]
  }

  /// Ends the relay because of a request that is not valid.
  mutating func fault(_ reason: String) -> [Action] { fail(.malformedMessage, reason) }

  /// Ends the relay because the viewer has sent nothing for this duration.
  mutating func expire(after patience: Duration) -> [Action] {
    fail(.unknown, "the viewer sent nothing for \(patience.components.seconds) s")
  }

  private mutating func fail(_ cause: Farewell.Cause, _ reason: String) -> [Action] {
    guard phase != .over else { return [] }
    phase = .over
    return [.fail(Farewell(cause: cause, reason: reason))]
  }
}
