// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The meaning of a cell, from which the terminal chooses its colours.
///
/// No fact depends on a role alone: even if all roles look alike, the text contains every fact.
public enum Role: UInt8, Sendable, CaseIterable {
  /// Plain text in the terminal's own colours.
  case text
  /// Important text: the header, the selected row's id.
  case strong
  /// Less important text: rules, labels, waiting and finished rows.
  case dim
  /// An operation that executes.
  case executing
  /// An operation that is ready.
  case ready
  /// An operation held by a suspended queue, or the word that says so.
  case held
  /// An operation that was cancelled and has not finished.
  case cancelling
  /// An operation that waits.
  case waiting
  /// An operation that finished.
  case finished
  /// An operation that finished after it was cancelled.
  case cancelled
  /// Text that needs attention.
  case warning
  /// Highlighted text: the critical path, a match, a key to press.
  case accent
}

/// The style of one cell.
public struct Style: Sendable, Hashable {
  /// The meaning of the cell.
  public var role: Role
  /// Whether foreground and background are exchanged.
  public var isReversed: Bool
  /// Whether the cell is bold, whatever its role is.
  public var isBold: Bool

  /// Creates a style; plain text by default.
  public init(_ role: Role = .text, isReversed: Bool = false, isBold: Bool = false) {
    self.role = role
    self.isReversed = isReversed
    self.isBold = isBold
  }

  /// Plain text.
  public static let plain = Style()
}
