// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import Dashboard
import TestSupport
import Testing

@testable import CursesTerminal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests that draw grids with ncurses on a terminal that the tests read.
///
/// The tests run one at a time, because ncurses has one screen per process.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TerminalTests {
  private func open(
    _ window: PseudoTerminal, type: String = "xterm-256color",
    _ options: Terminal.Options = .init(characters: .unicode)
  ) throws -> Terminal {
    try Terminal(owning: window.open(), type: type, options: options)
  }

  private func grid(_ size: Size, _ text: String, style: Style = .plain) -> Grid {
    var grid = Grid(size: size)
    for (row, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      var column = 0
      for scalar in line.unicodeScalars {
        guard row < size.rows, column < size.columns else { break }
        let isWide = scalar.value >= 0x1100 && !(0x2000...0x2FFF).contains(scalar.value)
        grid[row: row, column: column] = Cell(scalar, style: style)
        if isWide, column + 1 < size.columns {
          grid[row: row, column: column + 1] = Cell(" ", style: style, isContinuation: true)
        }
        column += isWide ? 2 : 1
      }
    }
    return grid
  }

  /// Returns the first difference between the screen and a grid: characters, widths, colors and
  /// attributes.
  private func difference(_ screen: VirtualScreen, _ grid: Grid, _ palette: Palette) -> String? {
    for (index, cell) in grid.cells.enumerated() {
      let ink = palette.ink(for: cell.style)
      var expected = VirtualScreen.Cell()
      expected.text = cell.isContinuation ? "" : String(cell.scalar)
      if let mark = cell.mark { expected.text.unicodeScalars.append(mark) }
      expected.foreground = ink.foreground < 0 ? nil : Int(ink.foreground)
      expected.isBold = ink.attributes & UInt8(CNCURSES_BOLD) != 0
      expected.isDim = ink.attributes & UInt8(CNCURSES_DIM) != 0
      expected.isUnderlined = ink.attributes & UInt8(CNCURSES_UNDERLINE) != 0
      expected.isReversed = ink.attributes & UInt8(CNCURSES_REVERSE) != 0
      expected.isContinuation = cell.isContinuation
      let shown = screen.cells[index]
      // The style of a space is compared only if the space is reversed or underlined.
      if shown.text == " ", expected.text == " ", !shown.isReversed, !expected.isReversed,
        !shown.isUnderlined, !expected.isUnderlined
      {
        continue
      }
      if shown != expected { return "cell \(index): \(shown) instead of \(expected)" }
    }
    return nil
  }

  private static let everyStyle: [Style] = Role.allCases.flatMap { role in
    [
      Style(role), Style(role, isReversed: true), Style(role, isBold: true),
      Style(role, isReversed: true, isBold: true),
    ]
  }

  @Test(arguments: ["xterm-256color", "screen-256color", "tmux-256color", "xterm", "linux"])
  func everyRoleIsShownAsItsColors(type: String) throws {
    let window = try PseudoTerminal(columns: 60, rows: 10)
    var terminal = try open(window, type: type)
    var grid = Grid(size: terminal.size)
    for (index, style) in Self.everyStyle.enumerated() {
      grid[row: index / 50, column: index % 50] = Cell("x", style: style)
    }
    terminal.present(grid)
    let palette = Palette(colors: terminal.capabilities.colors)
    #expect(window.wait { difference($0, grid, palette) == nil })
    #expect(difference(window.screen, grid, palette) == nil)
    #expect(window.screen.unknownSequences == [])
    terminal.close()
  }

  @Test("T33: Wide characters, box drawing, blocks and marks are where the grid has them")
  func aGridIsShownCellByCell() throws {
    let window = try PseudoTerminal(columns: 20, rows: 6)
    var terminal = try open(window)
    var grid = grid(terminal.size, "┌─┬─┐│█▓▒░·▲▼…\n漢字한국😀 end\naaaaaaaaaaaaaaaaaa漢\n\nplain")
    grid[row: 3, column: 0] = Cell("e", mark: "\u{301}", style: Style(.accent))
    for column in 0..<20 { grid[row: 5, column: column] = Cell("z", style: Style(.executing)) }
    terminal.present(grid)
    let palette = Palette(colors: terminal.capabilities.colors)
    #expect(window.wait { difference($0, grid, palette) == nil })
    #expect(difference(window.screen, grid, palette) == nil)
    terminal.close()
  }

  @Test func randomFramesAreDrawnCorrectly() throws {
    let window = try PseudoTerminal(columns: 40, rows: 8)
    var terminal = try open(window)
    let palette = Palette(colors: terminal.capabilities.colors)
    var generator = SystemRandomNumberGenerator()
    let characters = Array("abcdefgh   漢█─".unicodeScalars)
    for round in 0..<60 {
      var text = ""
      for _ in 0..<8 {
        for _ in 0..<Int.random(in: 0...25, using: &generator) {
          text.unicodeScalars.append(characters[Int.random(in: 0..<characters.count)])
        }
        text += "\n"
      }
      let style = Self.everyStyle[round % Self.everyStyle.count]
      let grid = grid(terminal.size, text, style: style)
      terminal.present(grid)
      try #require(
        window.wait { difference($0, grid, palette) == nil }, "round \(round): \(text)")
    }
    terminal.close()
  }

  @Test("T28, T29: A control character does not reach the terminal, even from a broken grid")
  func controlCharactersAreRefused() throws {
    let window = try PseudoTerminal(columns: 80, rows: 4)
    var terminal = try open(window)
    var grid = Grid(size: terminal.size)
    let evil: [Unicode.Scalar] =
      (0...0x1F).map { Unicode.Scalar(UInt8($0)) } + ["\u{7F}", "\u{9B}", "\u{202E}", "\u{200D}"]
    for (column, scalar) in evil.enumerated() {
      grid[row: 0, column: column] = Cell(scalar)
      grid[row: 1, column: column] = Cell("a", mark: scalar)
    }
    // Row 2 has invalid cells, which must not reach the terminal: a wide character that is declared
    // as narrow, a narrow character that is declared as wide, and a right half of a wide character
    // without the left half.
    grid[row: 2, column: 0] = Cell("漢")
    grid[row: 2, column: 1] = Cell("a")
    grid[row: 2, column: 2] = Cell(" ", isContinuation: true)
    grid[row: 2, column: 3] = Cell("b")
    grid[row: 2, column: 79] = Cell("漢")
    terminal.present(grid)
    let expected = [
      String(repeating: "?", count: evil.count), String(repeating: "a", count: evil.count),
      "?? b" + String(repeating: " ", count: 75) + "?", "",
    ]
    #expect(window.wait { $0.lines == expected })
    #expect(window.screen.lines == expected)
    #expect(window.screen.unknownSequences == [])
    terminal.close()
  }

  @Test("T47: An equal frame writes nothing")
  func anEqualFrameWritesNothing() throws {
    let window = try PseudoTerminal()
    var terminal = try open(window)
    let grid = grid(terminal.size, "hello")
    terminal.present(grid)
    #expect(window.wait { $0.contains("hello") })
    window.absorb(for: .milliseconds(20))
    let before = window.byteCount
    for _ in 0..<10 { terminal.present(grid) }
    window.absorb(for: .milliseconds(20))
    #expect(window.byteCount == before)
    terminal.close()
  }

  @Test("A frame is written in one call, even if it changes many places")
  func aFrameIsOneWrite() throws {
    let window = try PseudoTerminal()
    var terminal = try open(window)
    let size = terminal.size
    terminal.present(grid(size, "begun"))
    #expect(window.wait { $0.contains("begun") })
    for scalar in "12345".unicodeScalars {
      var grid = Grid(size: size)
      for row in 0..<size.rows {
        for column in stride(from: row % 7, to: size.columns - 1, by: 9) {
          grid[row: row, column: column] = Cell(scalar, style: .plain)
        }
      }
      let before = ProcessStatus.threadWriteCount()
      terminal.present(grid)
      let count = ProcessStatus.threadWriteCount() - before
      #expect(count >= 1 && count <= 2)
      window.absorb(for: .milliseconds(20))
    }
    terminal.close()
  }

  @Test func aRepaintWritesEverythingAgain() throws {
    let window = try PseudoTerminal(columns: 80, rows: 24)
    var terminal = try open(window)
    let grid = grid(terminal.size, "hello\n\nworld")
    terminal.present(grid)
    #expect(window.wait { $0.contains("world") })
    // `resize` clears the contents of the terminal, although the size stays the same.
    window.resize(columns: 80, rows: 24)
    terminal.repaintAll()
    terminal.present(grid)
    #expect(window.wait { $0.contains("hello") && $0.contains("world") })
    terminal.close()
  }

  @Test("T13: A frame is complete after each change of size, down to one cell")
  func everySizeIsDrawn() throws {
    let window = try PseudoTerminal(columns: 80, rows: 24)
    var terminal = try open(window)
    let palette = Palette(colors: terminal.capabilities.colors)
    for (columns, rows) in [(120, 40), (20, 5), (1, 1), (300, 3), (80, 24)] {
      window.resize(columns: columns, rows: rows)
      terminal.updateSize()
      #expect(terminal.size == Size(columns: columns, rows: rows))
      let line = String(repeating: "0123456789", count: 40).prefix(columns)
      let grid = grid(
        terminal.size, Array(repeating: line, count: rows).joined(separator: "\n"))
      terminal.present(grid)
      #expect(
        window.wait(seconds: 5) { difference($0, grid, palette) == nil }, "\(columns)x\(rows)")
    }
    terminal.close()
  }

  @Test("T11: A terminal without a size gets the size in its description")
  func aTerminalWithoutSizeIsUsable() throws {
    let window = try PseudoTerminal(columns: 80, rows: 24)
    window.resize(columns: 0, rows: 0)
    let terminal = try open(window)
    #expect(terminal.size == Size(columns: 80, rows: 24))
    terminal.close()
  }

  @Test func closingRestoresTheTerminal() throws {
    let window = try PseudoTerminal()
    let before = window.settings
    var terminal = try open(window)
    terminal.present(grid(terminal.size, "hello"))
    #expect(window.wait { $0.isAlternate && !$0.isCursorVisible && $0.isPasteBracketed })
    #expect(!window.settings.isCooked)
    terminal.close()
    #expect(window.wait { !$0.isAlternate && $0.isCursorVisible && !$0.isPasteBracketed })
    #expect(window.settings == before)
    #expect(window.screen.unknownSequences == [])
  }

  @Test func theTerminalIsRestoredWithoutNcurses() throws {
    let window = try PseudoTerminal()
    let before = window.settings
    var terminal = try open(window)
    terminal.present(grid(terminal.size, "hello"))
    #expect(window.wait { $0.contains("hello") })
    Terminal.restoreNow()
    #expect(window.wait { !$0.isAlternate && $0.isCursorVisible && !$0.isPasteBracketed })
    #expect(window.settings == before)
    terminal.close()
  }

  @Test("T21: After another thread has restored the terminal, a frame no longer reaches it")
  func noFrameAfterRestoring() throws {
    let window = try PseudoTerminal()
    var terminal = try open(window)
    terminal.present(grid(terminal.size, "hello"))
    #expect(window.wait { $0.contains("hello") })
    Terminal.restoreNow()
    #expect(window.wait { !$0.isAlternate })
    let byteCount = window.byteCount
    terminal.present(grid(terminal.size, "goodbye"))
    terminal.close()
    window.absorb(for: .milliseconds(5))
    #expect(window.byteCount == byteCount)
  }

  @Test(
    "The tests' screen understands a sequence after an incomplete character or sequence",
    arguments: [[0xE2, 0x94], [0x1B], [0x1B, 0x28], [0x1B, 0x5B], [0x1B, 0x5B, 0x33, 0x39]])
  func incompleteSequence(bytes: [UInt8]) {
    var screen = VirtualScreen(columns: 10, rows: 2)
    screen.feed(bytes + Array("\u{1B}[?2004h".utf8))
    #expect(screen.isPasteBracketed && screen.unknownSequences == [])
  }

  @Test func onlyOneTerminalCanBeOpen() throws {
    let window = try PseudoTerminal()
    let terminal = try open(window)
    #expect(throws: TerminalError(.alreadyOpen)) { _ = try open(window) }
    terminal.close()
    let again = try open(window)
    again.close()
  }

  @Test(
    "T5, T6: A terminal that cannot show a grid is an error",
    arguments: [
      ("nonesuch", .unknownType("nonesuch")), ("", .unknownType(nil)), ("dumb", .tooDumb("dumb")),
    ] as [(String, TerminalError.Code)])
  func aUselessTerminalIsAnError(type: String, code: TerminalError.Code) throws {
    let window = try PseudoTerminal()
    #expect(throws: TerminalError(code)) { _ = try open(window, type: type) }
    window.absorb(for: .milliseconds(5))
    #expect(window.byteCount == 0)
  }

  @Test func aFileIsRefusedAsATerminal() throws {
    let descriptor = Glibc.open("/dev/null", O_RDWR)
    #expect(throws: TerminalError(.notATerminal)) {
      _ = try Terminal(owning: descriptor, type: "xterm", options: .init())
    }
  }

  @Test(
    "T7: Colors are those of the terminal",
    arguments: [
      ("vt100", .none), ("linux", .eight), ("xterm", .eight),
      ("xterm-256color", .twoHundredFiftySix),
    ] as [(String, Capabilities.Colors)])
  func colorsAreThoseOfTheTerminal(type: String, colors: Capabilities.Colors) throws {
    let window = try PseudoTerminal()
    let terminal = try open(window, type: type)
    #expect(terminal.capabilities == Capabilities(isUnicode: true, colors: colors))
    terminal.close()
  }

  @Test func colorsCanBeRefused() throws {
    let window = try PseudoTerminal()
    var terminal = try open(window, .init(characters: .ascii, usesColor: false))
    #expect(terminal.capabilities == Capabilities(isUnicode: false, colors: .none))
    terminal.present(grid(terminal.size, "a─b", style: Style(.executing)))
    #expect(window.wait { $0.lines[0] == "a?b" })
    #expect(window.screen.cells[0].foreground == nil)
    terminal.close()
  }

  @Test func keysAreRead() throws {
    let window = try PseudoTerminal()
    var terminal = try open(window)
    window.type("q\u{1B}[A")
    #expect(readInput(&terminal) == .inputs([.character("q"), .key(.up)]))
    window.type("\u{1B}")
    #expect(readInput(&terminal) == .inputs([]))
    #expect(terminal.inputPatience == .milliseconds(25))
    window.type("OB")
    #expect(readInput(&terminal) == .inputs([.key(.down)]))
    #expect(terminal.inputPatience == nil)
    window.type("\u{3}\u{1A}\u{1C}")
    #expect(
      readInput(&terminal) == .inputs([.control("c"), .control("z"), .control("\\")]))
    window.type("\u{1B}")
    #expect(readInput(&terminal) == .inputs([]))
    #expect(terminal.expireInput() == [.key(.escape)])
    terminal.close()
  }

  @Test func aClosedWindowEndsTheInput() throws {
    let window = try PseudoTerminal()
    var terminal = try open(window)
    window.hangUp()
    #expect(readInput(&terminal) == .gone)
    terminal.close()
  }

  @Test(
    "Text on standard error appears after the terminal was restored",
    arguments: [true, false])
  func standardErrorIsHeldBackInOwnProcess(isInOrder: Bool) async {
    await #expect(processExitsWith: .success) { [isInOrder = isInOrder as Bool] in
      let window = try PseudoTerminal()
      dup2(try window.open(), STDERR_FILENO)
      var terminal = try Terminal(owning: window.open(), type: "xterm-256color", options: .init())
      write(STDERR_FILENO, "bad news\n", 9)
      var grid = Grid(size: terminal.size)
      grid[row: 0, column: 0] = Cell("x")
      terminal.present(grid)
      try #require(window.wait { $0.lines[0] == "x" && !$0.contains("bad news") })
      if isInOrder { terminal.close() } else { Terminal.restoreNow() }
      try #require(window.wait { !$0.isAlternate && $0.contains("bad news") })
      write(STDERR_FILENO, "later\n", 6)
      try #require(window.wait { $0.contains("later") })
    }
  }

  private func readInput(_ terminal: inout Terminal) -> Terminal.Reading {
    var entry = pollfd(fd: terminal.descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 5_000) == 1 else { return .inputs([.character("!")]) }
    return terminal.readInput()
  }
}
