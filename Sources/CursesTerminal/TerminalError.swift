// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The error that a terminal cannot be used, with the reason.
public struct TerminalError: Error, Equatable, CustomStringConvertible {
  /// The reasons why a terminal cannot be used.
  public enum Code: Sendable, Equatable {
    /// The process has no terminal, or the descriptor is not a terminal.
    case notATerminal
    /// The terminal's type is unset, empty or unknown.
    case unknownType(String?)
    /// A terminal of this type cannot place its cursor.
    case tooDumb(String)
    /// Another `Terminal` is open, and there can be only one.
    case alreadyOpen
    /// The system refused memory or a descriptor.
    case noResources
  }

  /// The reason why the terminal cannot be used.
  public let code: Code

  /// Creates an error with the reason why a terminal cannot be used.
  public init(_ code: Code) { self.code = code }

  /// The reason in one sentence without a full stop at the end.
  public var description: String {
    switch code {
    case .notATerminal: "not a terminal"
    case .unknownType(nil): "unknown terminal type: TERM is not set"
    case .unknownType(let type?):
      "unknown terminal type: TERM is \"\(Self.plain(type))\""
    case .tooDumb(let type): "a terminal of type \"\(Self.plain(type))\" cannot place its cursor"
    case .alreadyOpen: "the terminal is open already"
    case .noResources: "the system has no memory or file descriptors left"
    }
  }

  /// Replaces all characters that are not printable ASCII: the environment may contain anything.
  private static func plain(_ type: String) -> String {
    String(type.unicodeScalars.prefix(40).map { (" "..."~").contains($0) ? Character($0) : "?" })
  }
}
