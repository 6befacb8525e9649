// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a cell means, from which the terminal chooses its colours.
///
/// Nothing is told by a role alone: with all roles drawn alike, every fact is still in the text.
public enum Role: UInt8, Sendable, CaseIterable {
  /// Plain text in the terminal's own colours.
  case text
  /// What is read first: the header, the selected row's id.
  case strong
  /// What recedes: rules, labels, waiting and finished rows.
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
  /// What needs attention.
  case warning
  /// What is singled out: the critical path, a match, a key to press.
  case accent
}

/// How one cell is drawn.
public struct Style: Sendable, Hashable {
  /// What the cell means.
  public var role: Role
  /// Whether foreground and background change places.
  public var isReversed: Bool
  /// Whether the cell is bold, whatever its role says.
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
