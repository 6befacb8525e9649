// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import Dashboard

/// The colors and attributes with which each style is drawn, for a terminal with a given number of colors and a theme.
///
/// With the automatic theme, the background, plain text and bold text always have the terminal's own colors, because a
/// color that is chosen for a dark background cannot be read on a light one. The states of operations have ANSI
/// colors, which users adjust to their background. Only highlighted text and one kind have a special color, if the
/// terminal has 256 colors.
///
/// The themes dark and light have fixed colors for all text, if the terminal has 256 colors. The background always has
/// the terminal's own color.
struct Palette: Equatable {
  /// A foreground color, and attributes such as bold.
  struct Ink: Equatable {
    /// The number of the color in the terminal's list of colors; -1 for the terminal's own color of text.
    var foreground: Int16 = -1
    /// A combination of `CNCURSES_BOLD`, `CNCURSES_DIM`, `CNCURSES_REVERSE` and `CNCURSES_UNDERLINE`.
    var attributes: UInt8 = 0
  }

  /// The number of colors that are used.
  let colors: Capabilities.Colors
  private let theme: Theme

  /// Creates the palette of a theme for a terminal with this number of colors.
  init(colors: Capabilities.Colors, theme: Theme = .automatic) {
    self.colors = theme == .none ? .none : colors
    self.theme = colors == .twoHundredFiftySix ? theme : .automatic
  }

  /// Returns the color and the attributes for cells of a style.
  func ink(for style: Style) -> Ink {
    var ink = ink(for: style.role)
    if style.isBold {
      // If a cell is bold and dim, some terminals draw it bold and others draw it dim.
      ink.attributes &= ~Self.dim
      ink.attributes |= Self.bold
    }
    // Without colors, only the selected row is reversed, so that the user finds it at once.
    if style.isSelected || style.isReversed && colors != .none { ink.attributes |= Self.reverse }
    return ink
  }

  private func ink(for role: Role) -> Ink {
    guard colors != .none else { return colorless(role) }
    return switch theme {
    case .automatic, .none: colored(role)
    case .dark: Ink(foreground: darkColor(of: role), attributes: fixedAttributes(of: role))
    case .light: Ink(foreground: lightColor(of: role), attributes: fixedAttributes(of: role))
    }
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

  /// The color of highlighted text is blue. With 256 colors it is a lighter blue, because the blue of ANSI
  /// is the darkest of the eight ANSI colors.
  private var accent: Ink {
    switch colors {
    case .twoHundredFiftySix: Ink(foreground: 33)
    case .sixteen: Ink(foreground: 12)
    case .eight, .none: Ink(foreground: 4, attributes: Self.bold)
    }
  }

  /// Returns one of 256 colors that can be read on a black or dark gray background.
  private func darkColor(of role: Role) -> Int16 {
    switch role {
    case .text, .kind5: 252
    case .strong: 255
    case .dim, .waiting, .finished, .otherKind: 248
    case .executing, .kind2: 114
    case .ready, .kind4: 80
    case .held, .cancelling, .kind1: 221
    case .failed, .warning: 210
    case .cancelled, .kind3: 176
    case .accent, .kind0: 75
    }
  }

  /// Returns one of 256 colors that can be read on a white or light gray background.
  private func lightColor(of role: Role) -> Int16 {
    switch role {
    case .text, .kind5: 235
    case .strong: 232
    case .dim, .waiting, .finished, .otherKind: 241
    case .executing, .kind2: 22
    case .ready, .kind4: 23
    case .held, .cancelling, .kind1: 94
    case .failed, .warning: 124
    case .cancelled, .kind3: 90
    case .accent, .kind0: 25
    }
  }

  /// Returns the attributes of a role in a theme with fixed colors. Nothing is drawn dim, because terminals compute the
  /// color of dim text in different ways.
  private func fixedAttributes(of role: Role) -> UInt8 {
    switch role {
    case .strong, .executing, .cancelling, .warning: Self.bold
    case .text, .dim, .ready, .held, .waiting, .finished, .failed, .cancelled, .accent, .kind0,
      .kind1, .kind2, .kind3, .kind4, .kind5, .otherKind:
      0
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
