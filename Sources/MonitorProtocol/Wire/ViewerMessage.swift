// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a viewer tells a monitor over a socket: ``hello(_:)`` first, and nothing before the monitor has
/// answered it with its own.
public enum ViewerMessage: Sendable, Equatable {
  /// Who asks, and which versions it understands.
  case hello(ViewerHello)
  /// What it wants to be told of from now on, and the shortest time between two updates.
  case watch(Interest, interval: Duration)
  /// A command; its result comes with the same token.
  case command(MonitorCommand, token: UInt32)
  /// So many more frames of updates may be sent: the viewer has taken as many. At first none may.
  case credit(Int)
  /// Asks for a ``ProcessMessage/pong(_:)`` with the same number.
  case ping(UInt64)
  /// The viewer goes, for this reason.
  case bye(reason: String)
  /// One that this version does not know, of a newer minor version; it is to be skipped.
  case unknown
}

/// Says who watches.
public struct ViewerHello: Sendable, Equatable {
  /// Which versions of the protocol the viewer understands.
  public var versions: ProtocolVersions
  /// The viewer's process id; for display alone.
  public var processID: Int32
  /// Whether the viewer gives no commands.
  public var isReadOnly: Bool

  /// Creates a greeting, of this version by default.
  public init(
    versions: ProtocolVersions = .current, processID: Int32, isReadOnly: Bool
  ) {
    self.versions = versions
    self.processID = processID
    self.isReadOnly = isReadOnly
  }
}
