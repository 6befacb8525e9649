// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol

/// Why a process cannot be watched.
struct AttachError: Error, CustomStringConvertible, Equatable {
  /// What kind of reason.
  enum Kind {
    /// It was there, and does not answer.
    case lost
    /// Nothing listens there.
    case nothingThere
    /// It speaks another major version of the protocol.
    case versionMismatch
    /// It is not allowed.
    case denied
    /// As many watch it as may.
    case crowded
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
      self.init(.crowded, farewell.sentence)
    case .processEnds, .malformedMessage, .unknown:
      self.init(.lost, "the process refuses: \(farewell.sentence)")
    }
  }

  /// The process speaks these versions.
  init(otherVersion versions: ProtocolVersions) {
    self.init(
      .versionMismatch,
      "the process speaks version \(versions) of the protocol, and this opq-top "
        + "\(ProtocolVersions.current)")
  }

  /// The exit status that says the same.
  var status: Int32 {
    switch kind {
    case .lost: 1
    case .nothingThere: 3
    case .versionMismatch: 4
    case .denied, .crowded: 5
    }
  }

  /// Whether another attempt would bring the same.
  var isFinal: Bool {
    switch kind {
    case .versionMismatch, .denied: true
    case .lost, .nothingThere, .crowded: false
    }
  }
}

extension Farewell {
  /// The reason as it may be printed anywhere: it is the process's own words, which may be anything.
  var sentence: String {
    reason.isEmpty ? "it does not say why" : TerminalText.printable(reason, columns: 200)
  }
}
