// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a monitor to a viewer over a socket. The first one is ``hello(_:versions:)``, or
/// ``bye(_:)`` if the monitor refuses the viewer.
public enum ProcessMessage: Sendable, Equatable {
  /// The greeting of the process, and the versions of the protocol that the process understands.
  case hello(Hello, versions: ProtocolVersions)
  /// A part of an update. An update has several parts if it exceeds the size of a message. Each
  /// part costs one credit.
  case updatePart(UpdatePart)
  /// The result of the command with this token. It has one outcome for each operation and each name
  /// of the command, in the same order, the dependents that were also asked to cancel, and the
  /// reasons of refusals by the indexes of their outcomes.
  case commandResult(
    token: UInt32, outcomes: [CommandResult.Outcome], dependents: [OperationReport.ID],
    refusals: [Int: String] = [:])
  /// The answer to a ``ViewerMessage/ping(_:)`` with the same number.
  case pong(UInt64)
  /// The monitor ends the connection or refuses the viewer.
  case bye(Farewell)
  /// A message of a newer minor version, which this version does not know. Receivers skip it.
  case unknown
}

/// The reason why a monitor ends a connection.
public struct Farewell: Sendable, Equatable {
  /// The kind of the reason.
  public enum Cause: Sendable, Equatable {
    /// The process ends or stops listening. Since version 1.2, a process that exits sends this
    /// cause too.
    case processEnds
    /// The viewer uses another major version of the protocol.
    case versionMismatch
    /// The maximum number of viewers is connected.
    case tooManyViewers
    /// A message was invalid, or was not allowed when it was sent.
    case malformedMessage
    /// A cause for the end of a connection that this version of the protocol does not know.
    case unknown
  }

  /// The kind of the reason.
  public var cause: Cause
  /// The reason as one sentence; unsanitised.
  public var reason: String
  /// The versions that the monitor understands.
  public var versions: ProtocolVersions

  /// Creates the farewell of a monitor.
  public init(cause: Cause, reason: String, versions: ProtocolVersions = .current) {
    self.cause = cause
    self.reason = reason
    self.versions = versions
  }
}

/// The versions of the protocol that a program understands: one major version, with all minor
/// versions up to a number.
///
/// A newer minor version adds messages and fields, and older programs skip them. Different major
/// versions are incompatible.
public struct ProtocolVersions: Sendable, Equatable, CustomStringConvertible {
  /// The versions that this library understands.
  public static let current = ProtocolVersions(major: 1, minor: 4)

  /// The major version. The process and the viewer must have the same major version.
  public var major: UInt32
  /// The newest minor version that the program understands.
  public var minor: UInt32

  /// Creates the versions with this major version, up to this minor version.
  public init(major: UInt32, minor: UInt32) {
    self.major = major
    self.minor = minor
  }

  /// Returns whether programs with these versions understand each other.
  public func isCompatible(with other: ProtocolVersions) -> Bool { major == other.major }

  /// Whether a process with these versions answers ``MonitorCommand/retry(_:names:)``.
  package var knowsRetry: Bool { minor >= 3 }

  /// Whether a process with these versions answers ``MonitorCommand/setStartLimit(_:_:)``, sorts by
  /// position, matches exact values of a filter, and sends run orders, groups and the times of queues.
  package var knowsQueueDetails: Bool { minor >= 4 }

  /// The versions as text, such as `1.1`.
  public var description: String { "\(major).\(minor)" }
}
