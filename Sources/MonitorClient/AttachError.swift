// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// The reason why a process cannot be watched.
package struct AttachError: Error, CustomStringConvertible, Equatable {
  /// The kind of reason why a process cannot be watched.
  package enum Kind {
    /// The process or its connection was lost.
    case lost
    /// No process listens at the target.
    case nothingThere
    /// The process uses another major version of the protocol.
    case versionMismatch
    /// Access is denied.
    case denied
    /// The process has the maximum number of viewers.
    case crowded
    /// The viewer has ended the link to the relay.
    case closed
  }

  package let kind: Kind
  /// A sentence for the user, without a full stop.
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Creates an error from the farewell message that a monitor has sent instead of a greeting.
  package init(_ farewell: Farewell) {
    switch farewell.cause {
    case .versionMismatch:
      self.init(otherVersion: farewell.versions)
    case .tooManyViewers:
      self.init(.crowded, farewell.sentence)
    case .processEnds, .malformedMessage, .unknown:
      self.init(.lost, "the process refused the connection: \(farewell.sentence)")
    }
  }

  /// Creates the error for a process that uses these incompatible versions of the protocol.
  package init(otherVersion versions: ProtocolVersions) {
    self.init(
      .versionMismatch,
      """
      the process uses version \(versions) of the protocol, and this opq-top uses \
      \(ProtocolVersions.current)
      """)
  }

  /// The exit status of the program for this error.
  package var status: Int32 {
    switch kind {
    case .lost, .closed: 1
    case .nothingThere: 3
    case .versionMismatch: 4
    case .denied, .crowded: 5
    }
  }

  /// Whether a later attempt to connect would fail for the same reason.
  package var isFinal: Bool {
    switch kind {
    case .versionMismatch, .denied, .closed: true
    case .lost, .nothingThere, .crowded: false
    }
  }
}

extension Farewell {
  /// The reason as one line that is safe to print.
  var sentence: String { reason.shownSentence }
}

extension AttachError {
  /// Creates the error for a relay that is not connected to a process.
  init(_ refusal: RelayRefusal) {
    let kind: Kind =
      switch refusal.cause {
      case .lost: .lost
      case .nothingThere: .nothingThere
      case .denied: .denied
      }
    self.init(kind, refusal.reason.shownSentence)
  }
}

extension String {
  /// The reason that another process has sent, as one line that is safe to print. The reason may contain any
  /// characters. If it is empty, the line says that no reason was given.
  var shownSentence: String { isEmpty ? "no reason given" : shownLine(limit: 199) }

  /// Returns the text of another process as one line that is safe to print. If the text has more than `limit`
  /// characters, the line contains the first ones and "…".
  func shownLine(limit: Int) -> String {
    let shown = unicodeScalars.prefix(limit).map { scalar -> Unicode.Scalar in
      if scalar.properties.isWhitespace { return " " }
      return scalar.isObeyed ? "\u{B7}" : scalar
    }
    let isCut = unicodeScalars.dropFirst(limit).first != nil
    return String(String.UnicodeScalarView(shown)) + (isCut ? "\u{2026}" : "")
  }
}
