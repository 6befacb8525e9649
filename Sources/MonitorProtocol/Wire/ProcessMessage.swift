// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a monitor to a viewer over a socket. The first one is ``hello(_:versions:)``, or
/// ``bye(_:)`` if the monitor refuses the viewer.
public enum ProcessMessage: Sendable, Equatable {
  /// The watched process, and the versions of the protocol that it understands.
  case hello(Hello, versions: ProtocolVersions)
  /// A part of an update, because the changes may exceed the size of a message. Each part costs one
  /// credit.
  case updatePart(UpdatePart)
  /// The result of the command with this token: one outcome for each operation of it, in its order,
  /// and the dependents that were also asked to cancel.
  case commandResult(
    token: UInt32, outcomes: [CommandResult.Outcome], dependents: [OperationReport.ID])
  /// Answers a ``ViewerMessage/ping(_:)``.
  case pong(UInt64)
  /// The monitor ends the connection or refuses this viewer.
  case bye(Farewell)
  /// A message of a newer minor version, which this version does not know. Receivers skip it.
  case unknown
}

/// The reason why a monitor ends a connection.
public struct Farewell: Sendable, Equatable {
  /// The kind of the reason.
  public enum Cause: Sendable, Equatable {
    /// The process ends or stops listening.
    case processEnds
    /// The viewer speaks another major version of the protocol.
    case versionMismatch
    /// The maximum number of viewers is connected.
    case tooManyViewers
    /// A message was invalid, or not allowed at that point.
    case malformedMessage
    /// A cause that this version does not know.
    case unknown
  }

  /// The kind of the reason.
  public var cause: Cause
  /// The reason as one sentence; unsanitised.
  public var reason: String
  /// The versions that the monitor understands.
  public var versions: ProtocolVersions

  /// Creates a farewell.
  public init(cause: Cause, reason: String, versions: ProtocolVersions = .current) {
    self.cause = cause
    self.reason = reason
    self.versions = versions
  }
}

/// The versions of the protocol that one side understands: one major version, up to a minor one.
///
/// A minor version adds messages and fields, which older versions skip. Different major versions
/// are incompatible.
public struct ProtocolVersions: Sendable, Equatable, CustomStringConvertible {
  /// The version of this library.
  public static let current = ProtocolVersions(major: 1, minor: 1)

  /// The major version. Both sides must have the same.
  public var major: UInt32
  /// The newest minor version that the side understands.
  public var minor: UInt32

  /// Creates versions.
  public init(major: UInt32, minor: UInt32) {
    self.major = major
    self.minor = minor
  }

  /// Whether the two sides understand each other.
  public func isCompatible(with other: ProtocolVersions) -> Bool { major == other.major }

  /// The versions as text, such as `1.1`.
  public var description: String { "\(major).\(minor)" }
}
