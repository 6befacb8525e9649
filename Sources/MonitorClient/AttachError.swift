// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// Why a process cannot be watched.
package struct AttachError: Error, CustomStringConvertible, Equatable {
  /// What kind of reason.
  package enum Kind {
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

  package let kind: Kind
  /// One sentence without a full stop.
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// What a monitor has said instead of a greeting.
  package init(_ farewell: Farewell) {
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
  package init(otherVersion versions: ProtocolVersions) {
    self.init(
      .versionMismatch,
      "the process speaks version \(versions) of the protocol, and this opq-top "
        + "\(ProtocolVersions.current)")
  }

  /// The exit status that says the same.
  package var status: Int32 {
    switch kind {
    case .lost: 1
    case .nothingThere: 3
    case .versionMismatch: 4
    case .denied, .crowded: 5
    }
  }

  /// Whether another attempt would bring the same.
  package var isFinal: Bool {
    switch kind {
    case .versionMismatch, .denied: true
    case .lost, .nothingThere, .crowded: false
    }
  }
}

extension Farewell {
  /// The most characters of a reason that are shown.
  private static let reasonLimit = 199

  /// The reason as one line that may be printed anywhere: it is the process's own words, which may be
  /// anything.
  var sentence: String {
    if reason.isEmpty { return "it does not say why" }
    let shown = reason.unicodeScalars.prefix(Self.reasonLimit).map { scalar -> Unicode.Scalar in
      if scalar.properties.isWhitespace { return " " }
      return scalar.isObeyed ? "\u{B7}" : scalar
    }
    let isCut = reason.unicodeScalars.count > Self.reasonLimit
    return String(String.UnicodeScalarView(shown)) + (isCut ? "\u{2026}" : "")
  }
}
