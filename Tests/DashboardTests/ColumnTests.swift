// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Columns of the list")
struct ColumnTests {
  private typealias Column = ColumnSetting.Column

  private static let sizes = [(80, 24), (120, 40), (200, 60)]
  private static let facts = ColumnPlan.Facts(idWidth: 5, queueWidth: 6, hasPriorities: false)

  /// Returns the visible columns from left to right.
  private static func columns(_ plan: ColumnPlan) -> [Column] {
    plan.ranges.sorted { $0.value.lowerBound < $1.value.lowerBound }.map(\.key)
  }

  private static func dashboard(columns: [ColumnSetting], _ size: (Int, Int)) -> Dashboard {
    var settings = DashboardSettings()
    settings.columns = columns
    return ViewScene.dashboard(
      columns: size.0, rows: size.1, configuration: .init(title: "tiles", settings: settings))
  }

  /// Returns a dashboard whose operations have a kind, a quality of service, a progress or an error.
  static func fullDashboard(_ columns: Int, _ rows: Int) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows)
    dashboard.press("1104")
    dashboard.press(.enter)
    let kinds = [
      "merge": "Merge", "upload": "Upload", "download": "Download", "resample": "Resample",
    ]
    let changed = Scene.operations.map { report in
      var report = report
      report.givenKind = kinds.first { report.name.hasPrefix($0.key) }?.value
      report.priority = .normal
      switch report.id.rawValue {
      case 1042: report.progress = .init(completed: 45, total: 100, base: 0, since: Scene.now)
      case 1051: report.progress = .init(completed: 700, total: 800, base: 0, since: Scene.now)
      case 1036, 1037:
        report.state = .failed
        report.errorText = "503 Service Unavailable: the server answered after 3 attempts"
      case 1077, 1104: report.qualityOfService = .background
      case 1080, 1103: report.qualityOfService = .userInitiated
      default: break
      }
      return report
    }
    var update = ViewScene.update
    update.changed = changed
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }

  @Test("The list with all columns looks as stored", arguments: sizes)
  func theFullListLooksAsStored(columns: Int, rows: Int) {
    let dashboard = Self.fullDashboard(columns, rows)
    GoldenFrame.check(dashboard.picture(), named: "list-columns-\(columns)x\(rows)")
  }

  @Test("The list with chosen columns looks as stored", arguments: sizes)
  func theChosenColumnsLookAsStored(columns: Int, rows: Int) {
    let chosen = [
      ColumnSetting(.state), ColumnSetting(.name, width: 24), ColumnSetting(.kind, width: 9),
      ColumnSetting(.position), ColumnSetting(.queue), ColumnSetting(.id), ColumnSetting(.time),
      ColumnSetting(.error),
    ]
    let dashboard = Self.dashboard(columns: chosen, (columns, rows))
    GoldenFrame.check(dashboard.picture(), named: "list-chosen-\(columns)x\(rows)")
  }

  @Test("CO-1: A wide list shows kind, position, quality of service, progress and error")
  func aWideListShowsMore() throws {
    let dashboard = Self.fullDashboard(200, 60)
    let headings = try #require(dashboard.text().first { $0.contains("OPERATION") })
    for title in ["KIND", "POS", "QOS", "PROGRESS, ERROR"] { #expect(headings.contains(title)) }
    let text = dashboard.text()
    #expect(text.contains { $0.contains("#1103") && $0.contains("init") && $0.contains("Merge") })
    #expect(text.contains { $0.contains("#1042") && $0.contains("▓▓▓▓░░░░░░  45%") })
    #expect(text.contains { $0.contains("#1036") && $0.contains("503 Serv") })
  }

  @Test("CO-1: A wide list has no column that would be empty")
  func emptyColumnsAreLeftOut() throws {
    let plan = ColumnPlan(within: 0..<129, Self.facts)
    #expect(plan[.kind] != nil && plan[.position] != nil)
    for column in [Column.quality, .progress, .error, .process, .priority] {
      #expect(plan[column] == nil, "\(column)")
    }
  }

  @Test("CO-2: The name keeps a good width when the list is made wider", arguments: 120...400)
  func theNameKeepsItsWidth(width: Int) throws {
    var facts = Self.facts
    (facts.hasErrors, facts.hasProgress, facts.hasQualities) = (true, true, true)
    facts.processWidth = 9
    let plan = ColumnPlan(within: 0..<width, facts)
    #expect(try #require(plan[.name]).count >= 22)
    if width >= 200 { #expect(Self.columns(plan).count == Column.allCases.count - 2) }
  }

  @Test("CO-2: A list of less than 120 columns has the columns of a narrow list")
  func aNarrowListHasTheUsualColumns() {
    var facts = Self.facts
    (facts.hasErrors, facts.hasProgress, facts.hasQualities) = (true, true, true)
    for width in 40..<120 {
      let plan = ColumnPlan(within: 0..<width, facts)
      let further: Set<Column> = [.kind, .position, .quality, .progress, .error]
      #expect(further.isDisjoint(with: plan.ranges.keys), "\(width)")
    }
  }

  @Test("CO-2: The error gets the cells that short names do not need", arguments: 120...400)
  func theErrorGetsTheRoomOfShortNames(width: Int) throws {
    var facts = Self.facts
    (facts.hasErrors, facts.hasProgress) = (true, true)
    let long = ColumnPlan(within: 0..<width, facts)
    facts.hasLongNames = false
    let short = ColumnPlan(within: 0..<width, facts)
    #expect(long.ranges.keys == short.ranges.keys)
    let error = try #require(short[.error])
    #expect(try #require(short[.name]).count == 22)
    #expect(error.count >= (try #require(long[.error])).count && error.upperBound == width)
  }

  @Test("CO-2: The columns move once, when the first operation has a long name or a remark")
  func longNamesAreNoted() {
    func report(_ name: String, _ change: (inout OperationReport) -> Void = { _ in })
      -> OperationReport
    {
      var report = OperationReport(
        id: OperationReport.ID(1), name: name, className: "Job", queue: Scene.cpu, state: .waiting)
      change(&report)
      return report
    }
    for short in [report("fail2"), report(""), report(String(repeating: "a", count: 22))] {
      var contents = ColumnContents()
      contents.note([short])
      #expect(!contents.hasLongNames, "\(short.name)")
    }
    for long in [
      report(String(repeating: "a", count: 23)),
      report("") { $0.className = "LongNameOfAnOperation" },
      report("a") { $0.statusText = "reads" },
      report("a") { $0.attempts = RetryAttempts(maximum: 3, number: 1) },
    ] {
      var contents = ColumnContents()
      contents.note([long])
      contents.note([report("a")])
      #expect(contents.hasLongNames, "\(long.name)")
    }
  }

  @Test("CO-3: The chosen columns have the chosen order and width")
  func chosenColumnsHaveTheirOrder() throws {
    let chosen = [
      ColumnSetting(.time), ColumnSetting(.name, width: 30), ColumnSetting(.id, width: 9),
      ColumnSetting(.kind),
    ]
    let plan = ColumnPlan(within: 0..<120, Self.facts, chosen)
    #expect(Self.columns(plan) == chosen.map(\.column))
    #expect(plan[.time]?.lowerBound == 2)
    #expect(plan[.name]?.count == 30 && plan[.id]?.count == 9)
    #expect(plan[.kind]?.upperBound == 120)
  }

  @Test("CO-3: A chosen width of the name holds beside the error, whether names are long or short")
  func aChosenNameKeepsItsWidth() {
    var facts = Self.facts
    facts.hasErrors = true
    for hasLongNames in [true, false] {
      facts.hasLongNames = hasLongNames
      let chosen = [ColumnSetting(.id), ColumnSetting(.name, width: 40), ColumnSetting(.error)]
      let plan = ColumnPlan(within: 0..<200, facts, chosen)
      #expect(plan[.name]?.count == 40 && plan[.error]?.upperBound == 200, "\(hasLongNames)")
    }
  }

  @Test("CO-3: A column that is chosen twice is shown once, and a column without contents is not")
  func uselessColumnsAreLeftOut() {
    let chosen = [Column.id, .process, .id, .key, .name].map { ColumnSetting($0) }
    var facts = Self.facts
    facts.keys = .never
    #expect(Self.columns(ColumnPlan(within: 0..<80, facts, chosen)) == [.id, .name])
  }

  @Test("CO-4: Chosen columns without room are left out from the right, and the name stays")
  func columnsAreLeftOutFromTheRight() throws {
    let chosen = [
      ColumnSetting(.id), ColumnSetting(.name, width: 40), ColumnSetting(.state),
      ColumnSetting(.queue, width: 20), ColumnSetting(.error, width: 30),
    ]
    for width in 40...200 {
      let plan = ColumnPlan(within: 0..<width, Self.facts, chosen)
      let shown = Self.columns(plan)
      #expect(shown == Array(chosen.map(\.column).prefix(shown.count)), "\(width)")
      #expect(try #require(plan[.name]).count >= ColumnPlan.narrowestTitle, "\(width)")
      #expect(plan.ranges.values.allSatisfy { $0.upperBound <= width }, "\(width)")
    }
    #expect(Self.columns(ColumnPlan(within: 0..<40, Self.facts, chosen)).count == 3)
    #expect(Self.columns(ColumnPlan(within: 0..<200, Self.facts, chosen)).count == 5)
  }

  @Test("CO-4: No two columns overlap, whichever are chosen", arguments: Column.allCases)
  func columnsDoNotOverlap(first: ColumnSetting.Column) {
    var facts = Self.facts
    facts.processWidth = 9
    let others = Column.allCases.filter { $0 != first }
    for width in [40, 80, 129, 200] {
      let chosen = ([first] + others).map { ColumnSetting($0) }
      let ranges = ColumnPlan(within: 0..<width, facts, chosen).ranges.values
        .sorted { $0.lowerBound < $1.lowerBound }
      for (left, right) in zip(ranges, ranges.dropFirst()) {
        #expect(left.upperBound < right.lowerBound || left.isEmpty || right.isEmpty)
      }
    }
  }

  @Test("CO-5: While the cancel keys are active, the list has their column")
  func theCancelKeysAreShown() {
    var dashboard = Self.dashboard(columns: [ColumnSetting(.id), ColumnSetting(.name)], (80, 24))
    #expect(!dashboard.text().shows("KEY"))
    dashboard.press("X")
    #expect(dashboard.text().shows("KEY") && dashboard.text().shows("  a #1042"))
  }
}
