// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

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
