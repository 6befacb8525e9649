// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a relay to a viewer. The first one is ``greeting(_:versions:)``, or ``bye(_:)`` if the relay
/// refuses the viewer. Only a ``pong(_:)`` may precede it.
package enum RelayAnswer: Sendable, Equatable {
  /// The greeting of the relay: the processes that it was started for, in the order of its arguments, and the versions
  /// of the protocol that it understands.
  case greeting([RelayTarget], versions: ProtocolVersions)
  /// A message from a process.
  case message(RelayedMessage)
  /// The end of a connection to a process. No message of the connection follows.
  case end(connection: UInt32, RelayRefusal)
  /// The answer to a ``RelayRequest/ping(_:)`` with the same number.
  case pong(UInt64)
  /// The relay ends or refuses the viewer.
  case bye(Farewell)
  /// A message of a newer minor version, which this version does not know. Receivers skip it.
  case unknown
}

/// A process that a relay was started for.
package struct RelayTarget: Sendable, Equatable {
  /// The id of the process; 0 if unknown.
  package var processID: Int32
  /// The path of the process's socket, unsanitised; empty if the process has none.
  package var path: String
  /// The reason why the relay refuses to connect to the process; `nil` if the viewer can request a connection.
  package var refusal: RelayRefusal?
  /// Whether the relay was started without arguments, and has found the process. Otherwise the arguments of the relay
  /// select the process.
  package var isFound: Bool

  /// Creates a target.
  package init(
    processID: Int32, path: String, refusal: RelayRefusal? = nil, isFound: Bool = false
  ) {
    self.processID = processID
    self.path = path
    self.refusal = refusal
    self.isFound = isFound
  }
}

/// The reason why a relay is not connected to a process.
package struct RelayRefusal: Sendable, Equatable {
  /// The kind of the reason.
  package enum Cause: Sendable, Equatable {
    /// The process or its connection was lost.
    case lost
    /// No process listens at the socket, or there is no such process.
    case nothingThere
    /// Access is denied.
    case denied
  }

  /// The kind of the reason.
  package var cause: Cause
  /// The reason as one sentence; unsanitised.
  package var reason: String
  /// Whether the process is known to have ended.
  package var hasProcessEnded: Bool

  /// Creates a reason.
  package init(_ cause: Cause, _ reason: String, hasProcessEnded: Bool) {
    self.cause = cause
    self.reason = reason
    self.hasProcessEnded = hasProcessEnded
  }
}
