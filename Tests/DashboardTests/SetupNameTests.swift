// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the setup with texts of all scripts and lengths.
@Suite("Names in the setup")
struct SetupNameTests {
  private static let names = [
    "漢字のファイル", "👨‍👩‍👧‍👦 family 🇩🇪", "مرحبا بالعالم", "e\u{301}\u{302}\u{303} combining",
    "\u{202E}reversed",
    "\u{1B}]0;x\u{07}\r\n\tcontrol", "한국어", "\u{200B}\u{FEFF}invisible",
  ]

  /// Returns the columns at which the setup and the preview have the parts that follow names.
  private func starts(in grid: Grid) -> [Int?] {
    (0..<grid.size.rows).map { row in
      Array(grid.row(row)).firstIndex { $0.scalar == "[" }
    }
  }

  @Test(
    "WN-1: the setup is aligned for a filter of each script", arguments: names, SetupTests.sizes)
  func theSetupIsAligned(name: String, size: (Int, Int)) throws {
    var dashboard = SetupTests.setup(columns: size.0, rows: size.1)
    let plain = starts(in: dashboard.picture())
    dashboard.press("jj ")
    dashboard.take(.input(.paste("\"\(name)\"")))
    dashboard.press(.enter)
    #expect(dashboard.settings.filter != nil)
    let picture = dashboard.picture()
    GoldenFrame.checkCells(of: picture)
    let rows = SetupState.columnRowCount + 2
    #expect(starts(in: picture).prefix(rows) == plain.prefix(rows))
  }

  @Test("WN-1: the preview of the setup is aligned for names of each script", arguments: names)
  func thePreviewIsAligned(name: String) throws {
    try expectAlignedPreview(name, columns: nil)
  }

  @Test(
    "WN-1: the preview of the setup is aligned if other columns follow the name", arguments: names)
  func thePreviewOfChosenColumnsIsAligned(name: String) throws {
    try expectAlignedPreview(
      name,
      columns: [
        ColumnSetting(.name, width: 12), ColumnSetting(.kind, width: 7), ColumnSetting(.state),
        ColumnSetting(.id), ColumnSetting(.queue),
      ])
  }

  /// Checks that the preview has the same cells beside the kind and the name as for a plain name.
  private func expectAlignedPreview(_ name: String, columns: [ColumnSetting]?) throws {
    func preview(_ name: String) throws -> (rows: [[Cell]], plan: ColumnPlan) {
      var configuration = Dashboard.Configuration(title: "tiles")
      configuration.settings.columns = columns
      var dashboard = SetupTests.setup(columns: 200, rows: 60, configuration: configuration)
      // The other operation determines the width of the column of kinds.
      let reports = [name, "the longest kind of all"].enumerated().map { index, name in
        OperationReport(
          id: OperationReport.ID(1 + index), name: name, className: name, queue: Scene.io,
          state: .executing)
      }
      dashboard.update(changed: reports)
      let setup = try #require(dashboard.setup)
      let layout = try #require(dashboard.screen.overlayLayout)
      let rule = try #require(SetupPlaces(layout, side: setup.side).previewRule)
      let picture = dashboard.picture()
      GoldenFrame.checkCells(of: picture)
      #expect(picture.text.shows("executing"))
      dashboard.settings.columns = setup.listed
      let plan = OperationTableView(dashboard: dashboard, layout: layout)
        .columns(Glyphs(isUnicode: true))
      return ((rule + 1..<layout.body.upperBound).map { Array(picture.row($0)) }, plan)
    }
    let (plain, hostile) = (try preview("plain"), try preview(name))
    #expect(hostile.plan == plain.plan)
    let texts = [try #require(plain.plan[.kind]), try #require(plain.plan[.name])]
    for (row, (cells, expected)) in zip(hostile.rows, plain.rows).enumerated() {
      for column in 0..<200 where !texts.contains(where: { $0.contains(column) }) {
        #expect(cells[column] == expected[column], "row \(row), column \(column)")
      }
    }
    #expect(hostile.rows != plain.rows)
  }

  @Test("WN-2: a filter and a path of 4 KiB leave the setup aligned", arguments: SetupTests.sizes)
  func hugeTextsLeaveTheSetupAligned(columns: Int, rows: Int) throws {
    var settings = DashboardSettings()
    settings.filter = try OperationFilter(String(repeating: "漢", count: 4_096))
    var dashboard = SetupTests.setup(
      columns: columns, rows: rows,
      configuration: Dashboard.Configuration(title: "tiles", settings: settings))
    let plain = starts(in: SetupTests.setup(columns: columns, rows: rows).picture())
    let rows = SetupState.columnRowCount + 2
    #expect(starts(in: dashboard.picture()).prefix(rows) == plain.prefix(rows))
    dashboard.take(.settingsSaved(.saved(path: "/" + String(repeating: "p", count: 4_096))))
    GoldenFrame.checkCells(of: dashboard.picture())
    #expect(dashboard.text().shows("saved in /ppp"))
  }

  @Test("SF-12: a path with characters that control a terminal is shown without them")
  func aHostilePathIsSanitised() {
    var dashboard = SetupTests.setup()
    for result: SettingsResult in [
      .saved(path: "/home/\u{1B}[31m\u{202E}x"), .failed(reason: "cannot write /\u{1B}]0;x\u{07}"),
    ] {
      dashboard.take(.settingsSaved(result))
      GoldenFrame.checkCells(of: dashboard.picture())
    }
    let remark = "config.yaml:1: unknown key \"\u{1B}[2J\" is ignored"
    dashboard = ViewScene.dashboard(
      configuration: Dashboard.Configuration(title: "tiles", settingsRemark: remark))
    GoldenFrame.checkCells(of: dashboard.picture())
  }
}
