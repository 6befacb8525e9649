// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The meaning of a cell. The terminal chooses the colors of the cell by its role.
///
/// The text contains every fact, so that it can be understood even if all roles look alike.
public enum Role: UInt8, Sendable, CaseIterable {
  /// Plain text in the default colors of the terminal.
  case text
  /// Important text: the header, the selected row's id.
  case strong
  /// Less important text: rules, labels, and the rows of waiting and finished operations.
  case dim
  /// An operation that executes.
  case executing
  /// An operation that is ready.
  case ready
  /// An operation in a suspended queue, or the word for such an operation.
  case held
  /// An operation that was cancelled but has not finished.
  case cancelling
  /// An operation that waits for dependencies.
  case waiting
  /// An operation that has finished.
  case finished
  /// An operation that has finished with an error.
  case failed
  /// An operation that has finished after it was cancelled.
  case cancelled
  /// Text that needs the attention of the user.
  case warning
  /// Highlighted text: the critical path, a match, a key to press.
  case accent
  /// A run of an operation of the first kind with a color, or the name of this kind. The text contains the kind too.
  case kind0
  /// The second kind with a color.
  case kind1
  /// The third kind with a color.
  case kind2
  /// The fourth kind with a color.
  case kind3
  /// The fifth kind with a color.
  case kind4
  /// The sixth kind with a color.
  case kind5
  /// Every kind without a color of its own.
  case otherKind
}

/// The style of one cell.
public struct Style: Sendable, Hashable {
  /// The meaning of the cell.
  public var role: Role
  /// Whether the foreground and background colors are exchanged. A terminal without colors draws the cell
  /// without this exchange.
  public var isReversed: Bool
  /// Whether the cell is bold regardless of its role.
  public var isBold: Bool
  /// Whether the cell belongs to the selected row. Every terminal draws such cells with exchanged colors.
  public var isSelected: Bool

  /// Creates a style. The default is plain text.
  public init(
    _ role: Role = .text, isReversed: Bool = false, isBold: Bool = false, isSelected: Bool = false
  ) {
    self.role = role
    self.isSelected = isSelected
    self.isReversed = isReversed
    self.isBold = isBold
  }

  /// The style of plain text.
  public static let plain = Style()
  /// The style of the selected row. All its cells have the same style, so that the row is one solid bar.
  public static let selected = Style(isSelected: true)
}
