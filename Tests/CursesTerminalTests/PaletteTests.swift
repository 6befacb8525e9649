// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import Dashboard
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

  @Test func textIsDrawnInTheTerminalsOwnColour() {
    for role in [Role.text, .strong, .dim, .waiting, .finished] {
      let ink = Palette(colors: .twoHundredFiftySix).ink(for: Style(role))
      #expect(ink.foreground == -1, "\(role): a colour of ours may be that of the background")
    }
  }

  @Test func reverseAndBoldAreAddedToTheRole() {
    let ink = Palette(colors: .eight).ink(
      for: Style(.waiting, isReversed: true, isBold: true))
    #expect(ink.attributes == UInt8(CNCURSES_BOLD | CNCURSES_REVERSE))
  }
}
