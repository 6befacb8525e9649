// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a viewer to a monitor over a socket. The first one is ``hello(_:)``. The viewer
/// sends nothing else before the monitor has answered it.
public enum ViewerMessage: Sendable, Equatable {
  /// The greeting of the viewer, with the versions of the protocol that it understands.
  case hello(ViewerHello)
  /// The viewer's interest from now on, and the shortest time between two updates.
  case watch(Interest, interval: Duration)
  /// A command of the viewer. The result of the command has the same token.
  case command(MonitorCommand, token: UInt32)
  /// Allows the monitor to send this number of further parts of updates. The viewer grants credit
  /// when it has processed earlier parts. The initial credit is 0.
  case credit(Int)
  /// Requests a ``ProcessMessage/pong(_:)`` with the same number.
  case ping(UInt64)
  /// The viewer ends the connection, for this reason.
  case bye(reason: String)
  /// A message of a newer minor version, which this version does not know. Receivers skip it.
  case unknown
}

/// The greeting of a viewer.
public struct ViewerHello: Sendable, Equatable {
  /// The versions of the protocol that the viewer understands.
  public var versions: ProtocolVersions
  /// The viewer's process id, for display only.
  public var processID: Int32
  /// Whether the viewer sends no commands.
  public var isReadOnly: Bool

  /// Creates the greeting of a viewer. By default, it has the versions that this library
  /// understands.
  public init(
    versions: ProtocolVersions = .current, processID: Int32, isReadOnly: Bool
  ) {
    self.versions = versions
    self.processID = processID
    self.isReadOnly = isReadOnly
  }
}
