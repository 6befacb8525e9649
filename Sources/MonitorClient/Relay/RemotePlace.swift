// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The place of a relay: another machine, which ssh reaches, or the place where a command of the user executes
/// programs, such as a container.
package struct RemotePlace: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case host
    case command
  }

  /// The name that is shown: the host, or the text of the command; unsanitised.
  package let name: String
  private let kind: Kind

  private init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// Returns the place that ssh reaches under a name.
  ///
  /// The place has no brackets around an address, as in `[::1]` or `alice@[::1]`, because ssh does not accept them.
  ///
  /// - Throws: ``AttachError`` if the name is empty, begins with `-`, contains white space or a control character, or
  ///   ends with a colon outside brackets. ssh would not use such a name as a host. A name that ends with a colon is
  ///   probably a part of an address.
  package static func host(_ text: String) throws(AttachError) -> RemotePlace {
    let name = withoutBrackets(text)
    guard !name.isEmpty else {
      throw AttachError(.nothingThere, "the name of a host cannot be empty")
    }
    guard !name.hasPrefix("-") else {
      throw AttachError(.nothingThere, "\"\(name)\" is not a host: it begins with \"-\"")
    }
    let isClean = name.unicodeScalars.allSatisfy {
      !$0.properties.isWhitespace && $0.properties.generalCategory != .control
    }
    guard isClean else {
      throw AttachError(.nothingThere, "\"\(name)\" is not a host: it contains white space")
    }
    guard name != text || !name.hasSuffix(":") else {
      throw AttachError(
        .nothingThere,
        "\"\(name)\" is not a host: it ends with \":\"; write an address in brackets, such as [::1]"
      )
    }
    return RemotePlace(.host, name)
  }

  private static func withoutBrackets(_ text: String) -> String {
    guard text.hasSuffix("]"), let bracket = text.lastIndex(of: "[") else { return text }
    let user = text[..<bracket]
    guard user.isEmpty || user.hasSuffix("@") else { return text }
    return String(user + text[bracket...].dropFirst().dropLast())
  }

  /// Returns the place where a command executes programs, such as `docker exec -i web`. The shell of this machine
  /// executes the text, without white space at its ends, followed by the words of the program.
  package static func command(_ text: String) -> RemotePlace {
    let start = text.drop(while: \.isWhitespace)
    let end = start.lastIndex { !$0.isWhitespace }
    return RemotePlace(.command, end.map { String(start[...$0]) } ?? "")
  }

  /// The words of `ssh` before the host. They override its configuration: ssh asks nothing, opens no forwarding, executes
  /// no other command, and never becomes the master of other connections, because opq-top may kill it. It can use a
  /// master that exists.
  package static let ssh = [
    "ssh", "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o",
    "ClearAllForwardings=yes", "-o", "RemoteCommand=none", "-o", "PermitLocalCommand=no",
  ]

  /// Whether ssh reaches the place.
  var isHost: Bool { kind == .host }

  /// The name in a message to the user. The text of a command is in quotation marks.
  var shownName: String {
    let name = name.shownLine(limit: 80)
    return isHost ? name : "\"\(name)\""
  }

  /// Returns the words of the command that starts a relay at the place. The first word is a program, which is searched
  /// in `PATH`.
  ///
  /// - Parameter arguments: The arguments of `opq-top relay`.
  /// - Returns: The words to execute on this machine.
  /// - Throws: ``AttachError`` if the text of a command is empty, contains a line feed, or ends with `;`, `&` or `|`.
  ///   The shell would then execute the words of the relay on this machine.
  package func command(arguments: [String]) throws(AttachError) -> [String] {
    switch kind {
    case .host:
      // ssh joins the words after the host with spaces, and a shell of the host splits the result. The link may kill
      // this ssh. Therefore it must not become the master of other connections. It can use a master that exists.
      return Self.ssh + [name, "opq-top", "relay"] + arguments.map(\.shellWord)
    case .command:
      guard let last = name.last, !";&|".contains(last), !name.contains(where: \.isNewline) else {
        throw AttachError(
          .nothingThere, "\(shownName) is not one command that executes the words after it")
      }
      return ["/bin/sh", "-c", "\(name) \"$@\"", "sh", "opq-top", "relay"] + arguments
    }
  }
}
