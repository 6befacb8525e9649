// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Foundation
import TestSupport
import Testing

@testable import CursesTerminal

extension TerminalTests {
  private func terminal(in window: PseudoTerminal, keepsLastGrid: Bool = false) throws -> Terminal {
    try Terminal(
      owning: window.open(), type: "xterm-256color",
      options: Terminal.Options(characters: .unicode, keepsLastGrid: keepsLastGrid))
  }

  @Test("MS-1: The terminal reports the mouse only while the mouse is on")
  func mouseOnAndOff() throws {
    let window = try PseudoTerminal()
    window.keepTranscript()
    var terminal = try terminal(in: window)
    terminal.present(Grid(size: terminal.size))
    #expect(window.wait { $0.isAlternate })
    #expect(window.screen.isMouseOff)
    for isOn in [true, true, false, false, true] {
      terminal.setMouse(isOn)
      #expect(window.wait { isOn ? $0.isMouseReported : $0.isMouseOff })
    }
    terminal.close()
    #expect(window.wait { !$0.isAlternate && $0.isMouseOff })
    #expect(window.screen.unknownSequences == [])
    // A repeated call writes nothing.
    let text = String(decoding: window.transcript ?? [], as: UTF8.self)
    #expect(text.ranges(of: "\u{1B}[?1000h\u{1B}[?1006h").count == 2)
    #expect(text.ranges(of: "\u{1B}[?1006l\u{1B}[?1000l").count == 2)
  }

  @Test("MS-1: A terminal whose mouse was never on gets no sequence about the mouse")
  func mouseNeverOn() throws {
    let window = try PseudoTerminal()
    window.keepTranscript()
    var terminal = try terminal(in: window)
    terminal.present(Grid(size: terminal.size))
    terminal.reclaim()
    terminal.setMouse(false)
    terminal.close()
    #expect(window.wait { !$0.isAlternate })
    let text = String(decoding: window.transcript ?? [], as: UTF8.self)
    #expect(!text.contains("1000") && !text.contains("1006"))
  }

  @Test("T50: The mouse is off while the program is stopped, and on again after it")
  func mouseAfterAStop() throws {
    let window = try PseudoTerminal()
    var terminal = try terminal(in: window)
    terminal.setMouse(true)
    #expect(window.wait { $0.isMouseReported })
    window.keepTranscript()
    terminal.reclaim()
    var grid = Grid(size: terminal.size)
    grid[row: 0, column: 0] = Cell("x")
    terminal.present(grid)
    #expect(window.wait { $0.lines[0] == "x" })
    #expect(window.screen.isMouseReported && window.screen.isAlternate)
    let text = String(decoding: window.transcript ?? [], as: UTF8.self)
    let off = try #require(text.range(of: "\u{1B}[?1006l\u{1B}[?1000l"))
    let on = try #require(text.range(of: "\u{1B}[?1000h\u{1B}[?1006h"))
    #expect(off.upperBound <= on.lowerBound)
    terminal.close()
    #expect(window.wait { $0.isMouseOff })
  }

  @Test("T50: Restoring the terminal without ncurses also switches the mouse off")
  func mouseOffWithoutNcurses() throws {
    let window = try PseudoTerminal()
    var terminal = try terminal(in: window)
    terminal.present(Grid(size: terminal.size))
    terminal.setMouse(true)
    #expect(window.wait { $0.isMouseReported })
    Terminal.restoreNow()
    #expect(window.wait { !$0.isAlternate && $0.isMouseOff })
    terminal.close()
  }

  @Test("T50: A second terminal of the process does not begin with the mouse of the first one")
  func secondTerminal() throws {
    for isOn in [true, false] {
      let window = try PseudoTerminal()
      var terminal = try terminal(in: window)
      if isOn { terminal.setMouse(true) }
      terminal.present(Grid(size: terminal.size))
      terminal.reclaim()
      terminal.present(Grid(size: terminal.size))
      #expect(window.wait { $0.isAlternate && (isOn ? $0.isMouseReported : $0.isMouseOff) })
      terminal.close()
    }
  }

  @Test("T52: A copied text reaches the clipboard, and changes nothing on the screen")
  func copying() throws {
    let window = try PseudoTerminal(columns: 20, rows: 3)
    var terminal = try terminal(in: window)
    var grid = Grid(size: terminal.size)
    grid[row: 1, column: 3] = Cell("x")
    terminal.present(grid)
    #expect(window.wait { $0.lines[1] == "   x" })
    terminal.copy("#12 \u{1B}[2J漢字\n")
    #expect(window.wait { !$0.copiedTexts.isEmpty })
    let text = try #require(window.screen.copiedTexts.first)
    #expect(Data(base64Encoded: text) == Data("#12 [2J漢字 ".utf8))
    #expect(window.screen.lines[1] == "   x")
    #expect(window.screen.unknownSequences == [])
    terminal.close()
  }

  @Test("The kept grid is the last one, also if the colors have changed since then")
  func theLastGridIsKeptAfterAChangeOfColors() throws {
    let window = try PseudoTerminal(columns: 20, rows: 3)
    var terminal = try terminal(in: window, keepsLastGrid: true)
    var grid = Grid(size: terminal.size)
    grid[row: 1, column: 3] = Cell("x")
    terminal.present(grid)
    #expect(window.wait { $0.lines[1] == "   x" })
    window.keepTranscript()
    terminal.setTheme(.light)
    terminal.close()
    window.absorb(for: .milliseconds(20))
    let text = String(decoding: window.transcript ?? [], as: UTF8.self)
    #expect(text.contains("\r\n   x\r\n"))
  }
}
