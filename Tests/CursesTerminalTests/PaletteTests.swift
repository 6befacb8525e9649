// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import Dashboard
import Foundation
import Testing

@testable import CursesTerminal

@Suite struct PaletteTests {
  @Test(arguments: [Capabilities.Colors.none, .eight, .sixteen, .twoHundredFiftySix])
  func aRoleUsesOnlyAvailableColors(colors: Capabilities.Colors) {
    for role in Role.allCases {
      let ink = Palette(colors: colors).ink(for: Style(role))
      #expect(ink.foreground < Int16(colors.rawValue), "\(role)")
      if colors == .none { #expect(ink.foreground == -1, "\(role)") }
    }
  }

  @Test func textIsDrawnInTheTerminalsOwnColor() {
    for role in [Role.text, .strong, .dim, .waiting, .finished] {
      let ink = Palette(colors: .twoHundredFiftySix).ink(for: Style(role))
      #expect(ink.foreground == -1, "\(role): a color of ours may be that of the background")
    }
  }

  @Test func reverseAndBoldAreAddedToTheRole() {
    let ink = Palette(colors: .eight).ink(
      for: Style(.waiting, isReversed: true, isBold: true))
    #expect(ink.attributes == UInt8(CNCURSES_BOLD | CNCURSES_REVERSE))
  }

  @Test func withoutColorsOnlyTheSelectionIsReversed() {
    let palette = Palette(colors: .none)
    for role in Role.allCases {
      for isBold in [false, true] {
        let ink = palette.ink(for: Style(role, isReversed: true, isBold: isBold))
        #expect(ink.attributes & UInt8(CNCURSES_REVERSE) == 0, "\(role)")
      }
    }
    #expect(palette.ink(for: .selected).attributes == UInt8(CNCURSES_REVERSE))
  }

  @Test(arguments: [Capabilities.Colors.eight, .sixteen, .twoHundredFiftySix])
  func executingOperationsAreBoldAndFinishedOnesAreDim(colors: Capabilities.Colors) {
    let palette = Palette(colors: colors)
    let executing = palette.ink(for: Style(.executing))
    #expect(executing.attributes == UInt8(CNCURSES_BOLD) && executing.foreground == 2)
    #expect(palette.ink(for: Style(.finished)).attributes == UInt8(CNCURSES_DIM))
    for role in [Role.text, .ready, .held, .waiting, .cancelled] {
      #expect(palette.ink(for: Style(role)).attributes & UInt8(CNCURSES_BOLD) == 0, "\(role)")
    }
    #expect(palette.ink(for: .selected).attributes == UInt8(CNCURSES_REVERSE))
  }

  // MARK: Themes

  @Test(
    "SF-14: a theme has the terminal's own colors if the terminal has fewer than 256",
    arguments: [Theme.dark, .light], [Capabilities.Colors.none, .eight, .sixteen])
  func fewColorsAreThoseOfTheTerminal(theme: Theme, colors: Capabilities.Colors) {
    for role in Role.allCases {
      let ink = Palette(colors: colors, theme: theme).ink(for: Style(role))
      #expect(ink == Palette(colors: colors).ink(for: Style(role)), "\(role)")
    }
  }

  @Test(
    "SF-14: the theme none, and a terminal without colors, have no color",
    arguments: [Capabilities.Colors.none, .eight, .sixteen, .twoHundredFiftySix])
  func noColors(colors: Capabilities.Colors) {
    for role in Role.allCases {
      for isReversed in [false, true] {
        let style = Style(role, isReversed: isReversed)
        let ink = Palette(colors: colors, theme: .none).ink(for: style)
        #expect(ink == Palette(colors: .none).ink(for: style) && ink.foreground == -1, "\(role)")
      }
    }
  }

  @Test(
    "SF-14: each color of a theme can be read on all usual backgrounds of the theme",
    arguments: [
      // Black, and the dark backgrounds of GNOME, Ubuntu, Visual Studio Code, Solarized, Gruvbox, Dracula and Nord.
      (
        Theme.dark,
        [0x000000, 0x171421, 0x300A24, 0x1E1E1E, 0x002B36, 0x282828, 0x282A36, 0x2E3440]
      ),
      // White, and the light backgrounds of Atom, GitHub, Solarized and Gruvbox.
      (.light, [0xFFFFFF, 0xFAFAFA, 0xF6F8FA, 0xFDF6E3, 0xFBF1C7]),
    ])
  func themesHaveEnoughContrast(theme: Theme, backgrounds: [Int]) {
    let palette = Palette(colors: .twoHundredFiftySix, theme: theme)
    for role in Role.allCases {
      let ink = palette.ink(for: Style(role))
      // The colors below 16 depend on the terminal.
      #expect(ink.foreground >= 16, "\(role)")
      #expect(ink.attributes & UInt8(CNCURSES_DIM) == 0, "\(role)")
      for background in backgrounds {
        let contrast = Self.contrast(Self.value(of: Int(ink.foreground)), background)
        #expect(contrast >= 4.5, "\(role) on \(String(background, radix: 16)): \(contrast)")
      }
    }
  }

  @Test(
    "SF-14: in a theme, states that need attention and kinds have different colors",
    arguments: [Theme.dark, .light])
  func rolesHaveDifferentColors(theme: Theme) {
    let palette = Palette(colors: .twoHundredFiftySix, theme: theme)
    func colors(_ roles: [Role]) -> Set<Int16> {
      Set(roles.map { palette.ink(for: Style($0)).foreground })
    }
    let states: [Role] = [.text, .dim, .executing, .ready, .held, .failed, .cancelled, .accent]
    #expect(colors(states).count == states.count)
    let kinds: [Role] = [.kind0, .kind1, .kind2, .kind3, .kind4, .kind5, .otherKind, .failed]
    #expect(colors(kinds).count == kinds.count)
  }

  /// Returns the ratio of contrast of two colors, as the Web Content Accessibility Guidelines define it. A color is a
  /// number of 24 bits with red, green and blue.
  private static func contrast(_ first: Int, _ second: Int) -> Double {
    let luminances = [luminance(first), luminance(second)].sorted()
    return (luminances[1] + 0.05) / (luminances[0] + 0.05)
  }

  /// Returns the red, green and blue of one of 256 colors, from the color 16 on.
  private static func value(of color: Int) -> Int {
    let levels = [0, 95, 135, 175, 215, 255]
    let index = color - 16
    let parts =
      color >= 232
      ? Array(repeating: 8 + 10 * (color - 232), count: 3)
      : [levels[index / 36], levels[index / 6 % 6], levels[index % 6]]
    return parts.reduce(0) { $0 << 8 | $1 }
  }

  /// Returns the relative luminance of a color.
  private static func luminance(_ color: Int) -> Double {
    let linear = [16, 8, 0].map { shift -> Double in
      let value = Double(color >> shift & 0xFF) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }
}
