// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Names in other scripts, and huge names, in the groups and in the further columns of the list.
@Suite("Names in groups and columns")
struct GroupNameTests {
  static let names = [
    "漢字かな交じり文の名前", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} family", "\u{1F1E9}\u{1F1EA} flag",
    "\u{645}\u{631}\u{62D}\u{628}\u{627}", "\u{202E}evil\u{202C}", "e\u{301}\u{302}\u{303}",
    "\u{301}mark",
    "\u{1B}[2J\r\n\t", "\u{E01}\u{E34}\u{E19}", "ｗｉｄｅ", "",
    String(repeating: "\u{5B57}", count: 1_365),
    String(repeating: "e\u{301}", count: 1_365),
  ]

  private static let sizes = [(80, 24), (120, 40), (200, 60)]

  /// Returns the cells of the rows of the table without the cells of some columns.
  private static func cells(
    of dashboard: Dashboard, without columns: Range<Int>, isUnicode: Bool
  ) throws -> [[Cell]] {
    let picture = dashboard.picture(isUnicode: isUnicode)
    let rows = try #require(dashboard.screen.layout).body
    return rows.map { row in
      picture.row(row).enumerated().filter { !columns.contains($0.offset) }.map(\.element)
    }
  }

  private static func groups(_ names: [String], by: OperationGroups.By) -> OperationGroups {
    var groups = OperationGroups(by: by)
    groups.groups = names.indices.map { index in
      let key: OperationGroups.Key =
        by == .kind ? .kind(names[index]) : .queue(QueueReport.ID(UInt64(index + 1)))
      return OperationGroups.Group(
        key: key, counts: StateCounts(waiting: 100 - index, total: 100 - index), endedCount: 7,
        times: ViewScene.times[Scene.cpu] ?? TimeStatistics(),
        runBuckets: Array(repeating: index, count: OperationGroups.bucketCount))
    }
    return groups
  }

  private static func dashboard(
    _ names: [String], by: OperationGroups.By, _ columns: Int, _ rows: Int
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows)
    dashboard.press(by == .kind ? "v#" : "vv#")
    var update = ViewScene.update
    if by == .queue {
      update.queues = names.enumerated().map {
        QueueReport(id: QueueReport.ID(UInt64($0.offset + 1)), name: $0.element)
      }
    }
    update.groups = groups(names, by: by)
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }

  @Test(
    "WN-1: The columns of the groups are aligned for names of each script and width",
    arguments: sizes, OperationGroups.By.allCases)
  func groupsAreAligned(size: (columns: Int, rows: Int), by: OperationGroups.By) throws {
    let plain = (0..<Self.names.count).map { "plain \($0)" }
    let expected = Self.dashboard(plain, by: by, size.columns, size.rows)
    let dashboard = Self.dashboard(Self.names, by: by, size.columns, size.rows)
    // The column of names ends before the first number.
    let heading = try #require(expected.text().first { $0.contains(" EXEC") })
    let end = heading.distance(
      from: heading.startIndex, to: try #require(heading.firstRange(of: "EXEC")).lowerBound)
    for isUnicode in [true, false] {
      #expect(
        try Self.cells(of: dashboard, without: 2..<end - 1, isUnicode: isUnicode)
          == Self.cells(of: expected, without: 2..<end - 1, isUnicode: isUnicode))
      GoldenFrame.checkCells(of: dashboard.picture(isUnicode: isUnicode))
    }
  }

  @Test("WN-1: The kind and the error of an operation keep the columns of the list aligned")
  func columnsAreAligned() throws {
    func dashboard(_ names: [String]) throws -> (Dashboard, ColumnPlan) {
      var dashboard = Scene.dashboard(columns: 200, rows: 60)
      // The first operation determines the width of the column of kinds.
      let all = ["the longest kind of all", ""] + names
      dashboard.update(
        changed: all.enumerated().map { index, name in
          var report = OperationReport(
            id: .init(3_001 + index), name: name, className: "Block", queue: Scene.io,
            state: .failed, started: Scene.seconds(1), finished: Scene.seconds(101))
          report.givenKind = name
          report.errorText = name
          return report
        })
      dashboard.press("\\#300|#301|state:failed")
      dashboard.press(.enter)
      let layout = try #require(dashboard.screen.layout)
      let view = OperationTableView(dashboard: dashboard, layout: layout)
      return (dashboard, view.columns(Glyphs(isUnicode: true)))
    }
    let (plain, plan) = try dashboard(Self.names.indices.map { "plain \($0)" })
    let (hostile, samePlan) = try dashboard(Self.names)
    #expect(plan == samePlan)
    let kind = try #require(plan[.kind])
    let name = try #require(plan[.name])
    let error = try #require(plan[.error])
    let (picture, plainPicture) = (hostile.picture(), plain.picture())
    GoldenFrame.checkCells(of: picture)
    let pane = try #require(plain.screen.layout?.pane)
    let texts = [kind, name, error, pane.lowerBound..<pane.upperBound]
    for row in try #require(plain.screen.layout).body {
      for column in 0..<200 where !texts.contains(where: { $0.contains(column) }) {
        #expect(
          picture[row: row, column: column] == plainPicture[row: row, column: column],
          "row \(row), column \(column)")
      }
    }
  }

  @Test("WN-2: Kinds of 4 KiB are cut to the column of names")
  func hugeKindsAreCut() {
    let huge = (0..<50).map { "\($0)" + String(repeating: "n", count: 4_094) }
    var dashboard = Self.dashboard(huge, by: .kind, 120, 40)
    #expect(dashboard.text().allSatisfy { $0.unicodeScalars.count <= 120 })
    #expect(dashboard.text().contains { $0.hasPrefix("▌ 0nnn") && $0.contains("…") })
    dashboard.press("jjG")
    #expect(dashboard.text().contains { $0.hasPrefix("▌ 49nn") })
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test(
    "GR-9: The name of the selected group is cut only if there is no room",
    arguments: [
      ("CalibratePictureOperation", 2, 2, 80, "2 of 2 operations are unfinished  "),
      ("CalibratePictureOperationOfATelescope", 2, 2, 80, "2 of 2 unfinished  "),
      (
        "CalibratePictureOperation", 1, 1, 120,
        "1 of 1 operation is unfinished; Enter lists this group"
      ),
      (String(repeating: "k", count: 70), 1, 2, 120, "1 of 2 operations is unfinished  "),
      (
        String(repeating: "k", count: 4 << 10), 0, 2, 120,
        "0 of 2 operations are unfinished; Enter lists this group"
      ),
      (
        String(repeating: "\u{5B57}", count: 1_365), 0, 2, 120,
        "0 of 2 operations are unfinished; Enter lists this group"
      ),
    ])
  func theNameOfTheSelectedGroup(
    name: String, unfinished: Int, total: Int, columns: Int, words: String
  ) throws {
    var dashboard = GroupScene.dashboard(by: .kind, columns: columns, rows: 40)
    let counts = StateCounts(waiting: unfinished, finished: total - unfinished, total: total)
    GroupScene.report(
      OperationGroups(by: .kind, groups: [.init(key: .kind(name), counts: counts)]), &dashboard)
    let row = try #require(dashboard.screen.layout).sentence
    let text = dashboard.text()[row]
    let isCut = name.utf8.count > 100
    #expect((text + "  ").contains(" \(words)") && text.contains("…") == isCut)
    if !isCut { #expect(text.hasPrefix(" \(name): ")) }
  }
}
