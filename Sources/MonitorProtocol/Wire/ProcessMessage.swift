// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a monitor tells a viewer over a socket: ``hello(_:versions:)`` first, or ``bye(_:)`` where it
/// does not take the viewer.
public enum ProcessMessage: Sendable, Equatable {
  /// Who is watched, and which versions of the protocol it understands.
  case hello(Hello, versions: ProtocolVersions)
  /// A part of an update: what has changed may be more than a frame holds. Each part costs one credit.
  case updatePart(UpdatePart)
  /// What became of the command with this token: one outcome for each operation of it, in its order,
  /// and the dependents that were asked to cancel too.
  case commandResult(
    token: UInt32, outcomes: [CommandResult.Outcome], dependents: [OperationReport.ID])
  /// Answers a ``ViewerMessage/ping(_:)``.
  case pong(UInt64)
  /// The monitor goes, or will not talk to this viewer.
  case bye(Farewell)
  /// One that this version does not know, of a newer minor version; it is to be skipped.
  case unknown
}

/// Why a monitor ends a connection.
public struct Farewell: Sendable, Equatable {
  /// What kind of reason.
  public enum Cause: Sendable, Equatable {
    /// The process ends, or listens no more.
    case processEnds
    /// The viewer speaks another major version of the protocol.
    case versionMismatch
    /// As many viewers as may be are connected.
    case tooManyViewers
    /// A message was not understood, or not allowed at that point.
    case malformedMessage
    /// One that this version does not know.
    case unknown
  }

  /// What kind of reason.
  public var cause: Cause
  /// The reason as one sentence; unsanitised.
  public var reason: String
  /// Which versions the monitor understands.
  public var versions: ProtocolVersions

  /// Creates a farewell.
  public init(cause: Cause, reason: String, versions: ProtocolVersions = .current) {
    self.cause = cause
    self.reason = reason
    self.versions = versions
  }
}

/// The versions of the wire protocol that one side understands: one major version, up to a minor one.
///
/// A minor version adds messages and fields that older ones skip. Another major version is not
/// understood at all.
public struct ProtocolVersions: Sendable, Equatable, CustomStringConvertible {
  /// What this library speaks.
  public static let current = ProtocolVersions(major: 1, minor: 1)

  /// Both sides must have the same.
  public var major: UInt32
  /// The newest minor version that is understood.
  public var minor: UInt32

  /// Creates versions.
  public init(major: UInt32, minor: UInt32) {
    self.major = major
    self.minor = minor
  }

  /// Whether the two sides understand each other.
  public func isCompatible(with other: ProtocolVersions) -> Bool { major == other.major }

  /// Such as `1.1`.
  public var description: String { "\(major).\(minor)" }
}
