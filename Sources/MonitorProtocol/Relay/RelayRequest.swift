// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a viewer to a relay. The first one is ``hello(_:)``. Before the relay has answered it, the viewer
/// sends only pings.
package enum RelayRequest: Sendable, Equatable {
  /// The greeting of the viewer, with the versions of the protocol that it understands.
  case hello(ProtocolVersions)
  /// Connects to a process. The number of the connection is from 1, and larger than those of all earlier connections.
  /// The target is a position in the targets of the relay, from 1.
  case open(connection: UInt32, target: UInt32)
  /// A message for a process.
  case message(RelayedMessage)
  /// Ends the connection with this number.
  case close(connection: UInt32)
  /// Requests a ``RelayAnswer/pong(_:)`` with the same number.
  case ping(UInt64)
  /// A message of a newer minor version, which this version does not know. Receivers skip it.
  case unknown
}

/// A message between a viewer and a process that a relay forwards.
package struct RelayedMessage: Sendable, Equatable {
  /// The number of the connection.
  package var connection: UInt32
  /// The bytes of one message, as on the socket of the process, without its length.
  package var bytes: [UInt8]

  /// Creates a message of the connection with this number.
  package init(connection: UInt32, bytes: [UInt8]) {
    self.connection = connection
    self.bytes = bytes
  }
}
