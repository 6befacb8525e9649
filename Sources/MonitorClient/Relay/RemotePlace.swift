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
  /// - Throws: ``AttachError`` if the name is empty, begins with `-`, or contains white space or a control character.
  ///   ssh would not use such a name as a host.
  package static func host(_ name: String) throws(AttachError) -> RemotePlace {
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
    return RemotePlace(.host, name)
  }

  /// Returns the place where a command executes programs, such as `docker exec -i web`. The shell of this machine
  /// executes the text, followed by the words of the program.
  package static func command(_ text: String) -> RemotePlace { RemotePlace(.command, text) }

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
  package func command(arguments: [String]) -> [String] {
    switch kind {
    case .host:
      // ssh connects the words after the host with spaces, and a shell of the host splits the result. The link may kill
      // this ssh, which must not be the master of other connections. It can use a master that exists.
      ["ssh", "-T", "-o", "BatchMode=yes", "-o", "ControlMaster=no", name, "opq-top", "relay"]
        + arguments.map(\.shellWord)
    case .command:
      ["/bin/sh", "-c", "\(name) \"$@\"", "sh", "opq-top", "relay"] + arguments
    }
  }
}
