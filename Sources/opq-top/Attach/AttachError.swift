// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Why a process cannot be watched, and the exit status that says the same.
struct AttachError: Error, CustomStringConvertible, Equatable {
  /// What kind of reason.
  enum Kind: Int32 {
    /// It was there, and does not answer.
    case lost = 1
    /// Nothing listens there.
    case nothingThere = 3
    /// It speaks another major version of the protocol.
    case versionMismatch = 4
    /// It is not allowed.
    case denied = 5
  }

  let kind: Kind
  /// One sentence without a full stop.
  let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// What a monitor has said instead of a greeting.
  init(_ farewell: Farewell) {
    switch farewell.cause {
    case .versionMismatch:
      self.init(otherVersion: farewell.versions)
    case .tooManyViewers:
      self.init(.denied, farewell.reason)
    case .processEnds, .malformedMessage, .unknown:
      self.init(.lost, "the process refuses: \(farewell.reason)")
    }
  }

  /// The process speaks these versions.
  init(otherVersion versions: ProtocolVersions) {
    self.init(
      .versionMismatch,
      "the process speaks version \(versions) of the protocol, and this opq-top "
        + "\(ProtocolVersions.current)")
  }
}
