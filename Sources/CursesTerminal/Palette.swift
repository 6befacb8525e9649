// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import Dashboard

/// The colours and attributes with which each style is drawn, for a terminal with a given number of colours.
///
/// The background, plain text and bold text always have the terminal's own colours, because a colour that is
/// chosen for a dark background cannot be read on a light one. The states of operations have ANSI colours,
/// which users adjust to their background. Only highlighted text has a special colour, if the terminal has
/// 256 colours.
struct Palette: Equatable {
  /// A foreground colour, and attributes such as bold.
  struct Ink: Equatable {
    /// The number of the colour in the terminal's list of colours; -1 for the terminal's own colour of text.
    var foreground: Int16 = -1
    /// A combination of `CNCURSES_BOLD`, `CNCURSES_DIM`, `CNCURSES_REVERSE` and `CNCURSES_UNDERLINE`.
    var attributes: UInt8 = 0
  }

  /// The number of colours that the terminal can show.
  let colors: Capabilities.Colors

  /// Returns the colour and the attributes for cells of a style.
  func ink(for style: Style) -> Ink {
    var ink = colors == .none ? colorless(style.role) : colored(style.role)
    if style.isBold {
      // If a cell is bold and dim, some terminals draw it bold and others draw it dim.
      ink.attributes &= ~Self.dim
      ink.attributes |= Self.bold
    }
    // Without colours, only the selected row is reversed, so that the user finds it at once.
    if style.isSelected || style.isReversed && colors != .none { ink.attributes |= Self.reverse }
    return ink
  }

  private func colored(_ role: Role) -> Ink {
    switch role {
    case .text: Ink()
    case .strong: Ink(attributes: Self.bold)
    case .dim, .waiting, .finished: Ink(attributes: Self.dim)
    case .executing: Ink(foreground: 2, attributes: Self.bold)
    case .ready: Ink(foreground: 6)
    case .held: Ink(foreground: 3)
    case .cancelling: Ink(foreground: 3, attributes: Self.bold)
    case .failed: Ink(foreground: 1)
    case .cancelled: Ink(foreground: 5)
    case .warning: Ink(foreground: 1, attributes: Self.bold)
    case .accent: accent
    case .kind0: Ink(foreground: colors == .twoHundredFiftySix ? 33 : 4)
    case .kind1: Ink(foreground: 3)
    case .kind2: Ink(foreground: 2)
    case .kind3: Ink(foreground: 5)
    case .kind4: Ink(foreground: 6)
    case .kind5: Ink()
    case .otherKind: Ink(attributes: Self.dim)
    }
  }

  /// The colour of highlighted text is blue. With 256 colours it is a lighter blue, because the blue of ANSI
  /// is the darkest of the eight ANSI colours.
  private var accent: Ink {
    switch colors {
    case .twoHundredFiftySix: Ink(foreground: 33)
    case .sixteen: Ink(foreground: 12)
    case .eight, .none: Ink(foreground: 4, attributes: Self.bold)
    }
  }

  private func colorless(_ role: Role) -> Ink {
    switch role {
    case .text, .ready, .held, .cancelled: Ink()
    case .kind0, .kind1, .kind2, .kind3, .kind4, .kind5: Ink()
    case .strong, .executing, .cancelling, .failed, .warning: Ink(attributes: Self.bold)
    case .dim, .waiting, .finished, .otherKind: Ink(attributes: Self.dim)
    case .accent: Ink(attributes: Self.underline)
    }
  }

  private static let bold = UInt8(CNCURSES_BOLD)
  private static let dim = UInt8(CNCURSES_DIM)
  private static let reverse = UInt8(CNCURSES_REVERSE)
  private static let underline = UInt8(CNCURSES_UNDERLINE)
}
