// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The end of the command of a link.
struct RelayEnd: Sendable, Equatable {
  /// The exit status; `nil` if a signal has ended the command, or if it did not end in time.
  var status: Int32?
  /// The last bytes of the command's standard error.
  var errors: [UInt8] = []
  /// The text that the command has written instead of the preamble; empty if it has written none.
  var text = ""
}

/// The sentences about a relay that cannot be reached. If a sentence contains text that the command or the relay has
/// sent, this text is one line of limited length.
enum RelayFailure {
  /// The sentence about a message whose length exceeds the limit.
  static let tooLong = "a message is longer than \(WireLimits.maximumEnvelopeSize) bytes"

  private static let longestLine = 160
  private static let longestText = 80

  /// Returns the error for a command that ended before the greeting of the relay.
  static func error(of end: RelayEnd, at place: RemotePlace) -> AttachError {
    let line = lastLine(of: end.errors)
    let name = place.shownName
    switch end.status {
    case 127:
      return AttachError(.nothingThere, "opq-top was not found on \(name)\(detail(line, place))")
    case 126:
      return AttachError(
        .nothingThere, "opq-top cannot be executed on \(name)\(detail(line, place))")
    // ssh ends with this status if ssh itself fails. Another command may end with it for any reason.
    case 255 where place.isHost:
      return AttachError(
        isDenial(line) ? .denied : .lost,
        "cannot log in to \(name)" + (line.map { ": \($0)" } ?? ""))
    // A version without the command "relay" ends with the status for an invalid command line.
    case 2 where line?.contains("unknown command \"relay\"") == true: return tooOld(name)
    case _ where !end.text.isEmpty: return unexpectedText(end.text, name)
    case let status:
      let reason = line ?? status.map { "exit status \($0)" } ?? "the command was killed"
      return AttachError(.lost, "the connection to \(name) ended: \(reason)")
    }
  }

  /// Returns the error for a command that cannot be started.
  static func cannotStart(_ program: String, _ reason: String) -> AttachError {
    AttachError(.lost, "cannot run \"\(program)\": \(reason)")
  }

  /// Returns the error for a relay whose greeting did not arrive in time.
  ///
  /// - Parameters:
  ///   - place: The place of the relay.
  ///   - text: The incomplete line that has arrived instead of the preamble; empty if there is none.
  /// - Returns: The error. It contains the text if there is one.
  static func noAnswer(from place: RemotePlace, text: String) -> AttachError {
    if !text.isEmpty { return unexpectedText(text, place.shownName) }
    return AttachError(.lost, "\(place.shownName) does not answer")
  }

  /// Returns the error for a relay that was lost after its greeting.
  static func loss(of place: RemotePlace) -> AttachError {
    AttachError(.lost, "the connection to \(place.shownName) was lost")
  }

  /// Returns the error for a relay that has sent an invalid message.
  static func violation(_ reason: String, at place: RemotePlace) -> AttachError {
    AttachError(.lost, "opq-top on \(place.shownName) violates the protocol: \(reason)")
  }

  /// Returns the error for a relay that uses incompatible versions of the protocol.
  static func otherVersion(_ versions: ProtocolVersions, at place: RemotePlace) -> AttachError {
    AttachError(
      .versionMismatch,
      """
      opq-top on \(place.shownName) uses version \(versions) of the protocol, and this opq-top uses \
      \(ProtocolVersions.current)
      """)
  }

  /// Returns the error for the farewell of a relay.
  static func error(of farewell: Farewell, at place: RemotePlace) -> AttachError {
    switch farewell.cause {
    case .versionMismatch: otherVersion(farewell.versions, at: place)
    case .processEnds, .tooManyViewers, .malformedMessage, .unknown:
      AttachError(
        .lost, "opq-top on \(place.shownName) ended the connection: \(farewell.sentence)")
    }
  }

  private static func tooOld(_ name: String) -> AttachError {
    AttachError(.versionMismatch, "opq-top on \(name) is too old: it has no command \"relay\"")
  }

  /// Returns the error for a text instead of the preamble. Only a text without a visible character has several lines.
  private static func unexpectedText(_ text: String, _ name: String) -> AttachError {
    let isVisible = text.utf8.contains { $0 > 0x20 }
    let shown = isVisible ? "\"\(text.shownLine(limit: longestText))\"" : "only empty lines"
    return AttachError(
      .lost,
      """
      \(name) sent text before opq-top's first message: \(shown); its login shell must print nothing
      """)
  }

  /// Returns the last line of the errors if the place is a command of the user. The shell of such a command ends with
  /// the same status if it does not find the command itself. The line shows which program is missing.
  private static func detail(_ line: String?, _ place: RemotePlace) -> String {
    guard !place.isHost, let line else { return "" }
    return ": \(line)"
  }

  private static func isDenial(_ line: String?) -> Bool {
    guard let line else { return false }
    return line.contains("Permission denied") || line.contains("Host key verification failed")
  }

  /// Returns the last line with a visible character, without a full stop at its end; `nil` if there is none.
  private static func lastLine(of bytes: [UInt8]) -> String? {
    let last = bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
      .last { line in line.contains { $0 > 0x20 } }
    guard let last else { return nil }
    var line = String(decoding: last, as: UTF8.self)
    if line.hasSuffix(".") { line.removeLast() }
    return line.shownLine(limit: longestLine)
  }
}
