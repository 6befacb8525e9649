// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("The colors of the timeline") struct TimelineColorTests {
  /// Returns a run of a kind from 0 s to `end`. If `end` is `nil`, the run has not ended.
  private func run(_ id: Int, _ kind: String?, _ end: Double?) -> OperationRun {
    OperationRun(
      id: OperationReport.ID(id), title: "run", queue: Scene.cpu,
      state: end == nil ? .executing : .finished, started: Scene.seconds(0),
      finished: end.map(Scene.seconds), kind: kind)
  }

  private func colors(_ runs: [OperationRun]) -> KindColors {
    var colors = KindColors()
    colors.settle(runs, at: Scene.seconds(10))
    return colors
  }

  @Test("TL-1: the kinds with the longest total run time get the first colors")
  func order() {
    let colors = colors([run(1, "a", 3), run(2, "b", 2), run(3, "b", 2), run(4, "c", nil)])
    #expect(colors.kinds == ["c", "b", "a"])
    #expect(colors.role(of: "c") == .kind0 && colors.role(of: "a") == .kind2)
    #expect(!colors.hasOthers)
    // Equal times are in the order of the names, as in the report.
    #expect(self.colors([run(1, "y", 1), run(2, "x", 1)]).kinds == ["x", "y"])
  }

  @Test("TL-1: a kind without a color, and an unknown kind, have the color of other kinds")
  func others() {
    let many = colors((1...8).map { run($0, "kind \($0)", Double($0)) })
    #expect(many.kinds == (3...8).reversed().map { "kind \($0)" })
    #expect(many.role(of: "kind 2") == .otherKind && many.hasOthers)
    let unknown = colors([run(1, nil, 1)])
    #expect(unknown.kinds == [] && unknown.role(of: nil) == .otherKind && unknown.hasOthers)
  }

  @Test("TL-2: a kind keeps its color while it has runs in the time window")
  func stability() {
    var colors = colors([run(1, "a", 3), run(2, "b", 1)])
    colors.settle([run(2, "b", 1), run(3, "c", 9)], at: Scene.seconds(10))
    #expect(colors.role(of: "b") == .kind1)
    #expect(colors.role(of: "c") == .kind0, "the color of the kind a is free")
    colors.settle([run(2, "b", 1), run(4, "a", 5), run(3, "c", 9)], at: Scene.seconds(10))
    #expect(colors.role(of: "a") == .kind2)
    #expect(colors.role(of: "b") == .kind1 && colors.role(of: "c") == .kind0)
  }

  /// Returns the roles of the cells of a run with this text.
  private func roles(of text: String, in grid: Grid) -> [Role] {
    for row in 0..<grid.size.rows {
      let cells = Array(grid.row(row))
      let line = cells.map { Character($0.scalar) }
      guard let start = line.firstRange(of: Array(text))?.lowerBound else { continue }
      return cells[start..<start + text.count].map(\.style.role)
    }
    return []
  }

  @Test("TL-1, TL-4, TL-5: runs have the color of their kind, failed ones red, and dim ids")
  func cells() {
    var dashboard = TimelineCursorTests.dashboard(columns: 120, rows: 40)
    dashboard.press("j")
    let grid = dashboard.picture()
    #expect(
      roles(of: "▐#1042 down", in: grid) == [.kind1] + Array(repeating: .dim, count: 5)
        + Array(repeating: .kind1, count: 5))
    #expect(Set(roles(of: "!#1070 resample everything░░", in: grid)) == [.failed])
    #expect(roles(of: "▐░░░▐", in: grid).first == .kind2)
  }

  @Test("TL-5: a run that goes on is bold, a finished one is not, and idle time is blank")
  func weight() {
    let grid = TimelineCursorTests.dashboard(columns: 120, rows: 40).picture()
    for row in 0..<grid.size.rows {
      let line = grid.text[row]
      guard line.contains("#1042") else { continue }
      let cells = Array(grid.row(row))
      #expect(cells[cells.firstIndex { $0.scalar == "█" } ?? 0].style.isBold)
      #expect(!cells[cells.firstIndex { $0.scalar == "▓" } ?? 0].style.isBold)
      #expect(line.contains("    ▐#1042"))
    }
  }

  @Test("TL-3: the last row names the kinds with their colors, and the characters of runs")
  func legend() {
    let grid = TimelineCursorTests.dashboard(columns: 120, rows: 40).picture()
    let legend = grid.text.first { $0.contains("█ Download") } ?? ""
    #expect(legend.hasPrefix("  █ ResampleOperation  █ Download  █ ComputeOperation"))
    #expect(roles(of: "█ Download", in: grid).first == .kind1)
    #expect(legend.hasSuffix("  ░ finished  ▓ cancelled  ! failed"))
    let wide = TimelineCursorTests.dashboard(columns: 200, rows: 60).text()
    #expect(wide.shows("█ executing  ░ finished  ▓ cancelled  ! failed"))
  }

  @Test("TL-3: a low screen has no row with the kinds", arguments: 10...24)
  func lowScreen(rows: Int) {
    let dashboard = TimelineCursorTests.dashboard(rows: rows)
    #expect(dashboard.text().shows("█ Download") == (rows >= 15))
    #expect(dashboard.text().shows(" cpu "))
  }

  @Test("TL-3: kinds without room are counted", arguments: Effort.sample(40...120))
  func narrowLegend(columns: Int) {
    let grid = TimelineCursorTests.dashboard(columns: columns, rows: 24).picture()
    let legend = grid.text.first { $0.contains("█ ResampleOperation") } ?? ""
    let named = legend.count { $0 == "█" }
    let rest = 5 - named
    #expect(rest == 0 || legend.hasSuffix("+\(rest) kind\(rest == 1 ? "" : "s")"), "\(legend)")
  }

  @Test("TL-3: without colors, letters name the kinds in the last row and in runs")
  func letters() {
    let dashboard = TimelineCursorTests.dashboard()
    let picture = dashboard.view(
      size: dashboard.screen.size, capabilities: Capabilities(colors: .none))
    GoldenFrame.check(picture, named: "timeline-colorless-80x24")
    let text = picture.text
    #expect(text.shows("  a ResampleOperation  b Download  c ComputeOperation"))
    #expect(text.shows("b#1042 download") && text.shows("!a#1070 resample"))
    #expect(text.shows("◀░c░c░"), "a run that began before the window and has 1 or 2 cells")
  }

  @Test("TL-3: with the theme without colors, letters name the kinds on any terminal")
  func lettersOfTheTheme() {
    var dashboard = TimelineCursorTests.dashboard()
    dashboard.settings.theme = .none
    let text = dashboard.text()
    #expect(text.shows("  a ResampleOperation  b Download  c ComputeOperation"))
    #expect(text.shows("b#1042 download"))
  }
}
