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

  @Test func withoutColoursOnlyTheSelectionIsReversed() {
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
}
