// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("Names of other scripts in the timeline") struct TimelineNameTests {
  /// Names of each width: wide characters, joined emoji, right-to-left scripts, combining marks, control and
  /// bidirectional characters, and a name of 4 KiB.
  private static let names = [
    "plain", "漢字の名前を持つ操作", "👩‍👩‍👧‍👦 family 🏳️‍🌈", "עברית ومرحبا", "e\u{301}\u{302}\u{303}tude",
    "\u{1B}[2J\r\n\u{7}bell", "\u{202E}evil\u{202C}\u{2066}x", "ＦＵＬＬ　ＷＩＤＴＨ", "\u{301}\u{200D}", "",
    String(repeating: "漢", count: 1_400), String(repeating: "n", count: 4_096),
  ]

  /// Returns a dashboard that shows the timeline of runs with this name and kind. One of them has failed.
  private func dashboard(_ name: String, columns: Int, rows: Int) -> Dashboard {
    var dashboard = TimelineCursorTests.dashboard(columns: columns, rows: rows)
    let runs = HistoryScene.runs.runs.map { run in
      var run = run
      run.title = name
      run.kind = run.id.rawValue.isMultiple(of: 2) ? name : "\(run.kind ?? "") \(name)"
      return run
    }
    TimelineCursorTests.report(runs, to: &dashboard)
    return dashboard
  }

  /// Returns the columns of the cells that hold an edge of a run, a state of the table or a mark of the time axis.
  private func edges(_ grid: Grid) -> [[Int]] {
    let glyphs = Glyphs(isUnicode: true)
    let edges: Set<Unicode.Scalar> = [
      glyphs.runStart, glyphs.runBack, glyphs.runFront, glyphs.runFailure, glyphs.idleTime,
    ]
    return (0..<grid.size.rows).map { row in
      let cells = grid.row(row).dropLast(0)
      return cells.indices.filter { edges.contains(cells[$0].scalar) }.map { $0 - cells.startIndex }
    }
  }

  @Test(
    "WN-1: in the timeline, the columns are aligned for names of each script and width",
    arguments: names, [(80, 24), (120, 40), (200, 60)])
  func alignment(name: String, size: (Int, Int)) throws {
    let plain = dashboard("plain", columns: size.0, rows: size.1)
    let grid = dashboard(name, columns: size.0, rows: size.1).picture()
    GoldenFrame.checkCells(of: grid)
    let body = try #require(plain.screen.layout?.body)
    let slots = body.prefix(9)
    // The character for idle time is also the one for a character that is not shown, so only its columns outside of
    // names are compared.
    let (expected, found) = (edges(plain.picture()), edges(grid))
    for row in slots {
      #expect(Set(expected[row]).isSubset(of: found[row]), "row \(row): \(grid.text[row])")
    }
  }

  @Test(
    "WN-1: the states in the table below the slots stand in one column", arguments: names,
    [(120, 60), (200, 60)])
  func tableColumns(name: String, size: (Int, Int)) {
    let grid = dashboard(name, columns: size.0, rows: size.1).picture()
    let words = ["finished", "failed", "executing", "cancelling"].map { Array($0.unicodeScalars) }
    var columns: Set<Int> = []
    var isTable = false
    for row in 0..<grid.size.rows {
      let scalars = grid.row(row).map(\.scalar)
      if grid.text[row].hasPrefix("  ID ") {
        isTable = true
        continue
      }
      guard isTable, String(String.UnicodeScalarView(scalars)).contains("12:0") else { continue }
      let place = words.compactMap { scalars.firstRange(of: $0)?.lowerBound }.min()
      if let place, scalars[2] == "#" { columns.insert(place) }
    }
    #expect(columns.count == 1, "\(columns)")
  }

  @Test(
    "WN-2: names and kinds of 4 KiB leave room for the rest of each line", arguments: [80, 200])
  func hugeNames(columns: Int) {
    var dashboard = dashboard(String(repeating: "n", count: 4_096), columns: columns, rows: 60)
    for _ in 0..<4 { dashboard.press("h") }
    let text = dashboard.text()
    let layout = dashboard.screen.layout
    let (sentence, legend) = (text[layout?.sentence ?? 0], text[(layout?.body.upperBound ?? 1) - 1])
    #expect(sentence.contains("error: cannot"))
    #expect(legend.contains("kinds") || legend.contains("!"), "\(legend)")
    #expect(text.filter { $0.contains("  finished  ") }.count > 5)
  }

  @Test("WN-1: in ASCII, each other character of a name has one cell", arguments: names)
  func plainCharacters(name: String) {
    let dashboard = dashboard(name, columns: 120, rows: 40)
    let grid = dashboard.picture(isUnicode: false)
    GoldenFrame.checkCells(of: grid)
    #expect(grid.cells.allSatisfy { $0.scalar.isASCII })
  }
}
