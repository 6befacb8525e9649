// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The contents and the order of the list")
struct ListingTests {
  private typealias ID = OperationReport.ID

  private func reports(_ dashboard: Dashboard) -> [OperationReport] {
    dashboard.list.rows.keys.compactMap { dashboard.shown.operations[$0.id] }
  }

  // MARK: Filter

  @Test func aFilterIsAppliedDuringTyping() {
    var dashboard = Scene.dashboard()
    let all = dashboard.list.rows.count
    dashboard.press("\\upload")
    #expect(!dashboard.list.rows.keys.isEmpty && dashboard.list.rows.count < all)
    #expect(reports(dashboard).allSatisfy { $0.name.contains("upload") })
    #expect(dashboard.text().shows("filter: upload_"))
    dashboard.press(.enter)
    dashboard.press("\\")
    dashboard.press(" state:held")
    #expect(reports(dashboard).map(\.id) == [ID(1110), ID(1111)])
  }

  @Test func escapeRestoresThePreviousFilter() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\upload")
    dashboard.press(.enter)
    let kept = dashboard.list.rows.count
    dashboard.press("\\ state:held")
    dashboard.press(.escape)
    #expect(dashboard.list.rows.count == kept)
    #expect(dashboard.list.listing.filter?.text == "upload")
  }

  @Test func anInvalidFilterIsExplainedAndNotAccepted() {
    var dashboard = Scene.dashboard(columns: 120)
    dashboard.press("\\state:idle")
    #expect(dashboard.text().shows("state must be waiting, ready"))
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.prompts.text != nil)
    for _ in 0..<10 { dashboard.press(.backspace) }
    #expect(dashboard.prompts.text?.text.isEmpty == true)
    dashboard.press(.backspace)
    #expect(dashboard.prompts.text == nil && dashboard.list.listing.filter == nil)
  }

  @Test("T41: text that is pasted into the filter is only text, including its line breaks")
  func pasteIntoTheFilter() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\")
    #expect(dashboard.take(.input(.paste("merge\nxy\u{1B}[31m"))) == [])
    #expect(dashboard.prompts.text?.text == "merge xy [31m")
    #expect(dashboard.prompts.question == nil)
  }

  @Test func aWordOrTheWholeTextCanBeDeleted() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\merge all shards")
    dashboard.take(.input(.control("w")))
    #expect(dashboard.prompts.text?.text == "merge all ")
    dashboard.take(.input(.control("u")))
    #expect(dashboard.prompts.text?.text == "")
    #expect(dashboard.list.listing.filter == nil)
  }

  @Test func theInterestMatchesTheList() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\io")
    dashboard.press(.enter)
    dashboard.press("H<I")
    #expect(dashboard.connection.interest.filter?.text == "io")
    #expect(dashboard.connection.interest.hidesOver)
    #expect(dashboard.connection.interest.order == SortOrder(by: .id, isReversed: true))
    #expect(dashboard.connection.interest.rowLimit == 500)
  }

  // MARK: Order

  @Test("Each column sorts in both directions", arguments: SortOrder.Column.allCases)
  func eachColumnSorts(column: SortOrder.Column) {
    var dashboard = Scene.dashboard()
    dashboard.press("s")
    dashboard.press(String(Character(column.letter)))
    #expect(dashboard.list.listing.order.column == column)
    let keys = dashboard.list.rows.keys
    #expect(keys == keys.sorted())
    dashboard.press("i")
    #expect(dashboard.list.rows.keys == keys.reversed())
  }

  @Test("The arrow points up if the smallest value is in the first row, for each column")
  func theArrowHasOneMeaning() {
    for (letter, rising, heading) in [
      ("i", true, "ID"), ("s", true, "STATE"), ("u", true, "QUEUE"), ("p", false, "PRI"),
      ("d", false, "DEPS"), ("t", false, "TIME"), ("r", false, "TIME"), ("b", false, "BLKS"),
      ("n", true, "OPERATION"),
    ] {
      var dashboard = Scene.dashboard(columns: 200, rows: 60)
      dashboard.press("s\(letter)")
      #expect(dashboard.text().shows("\(heading)\(rising ? "▲" : "▼")"), "\(letter)")
      dashboard.press("i")
      #expect(dashboard.text().shows("\(heading)\(rising ? "▼" : "▲")"), "\(letter), reversed")
    }
  }

  @Test("Operations are sorted by the order in which they were added, whatever their ids are")
  func theOrderOfAdding() {
    func report(_ id: UInt64, added: Int64?) -> OperationReport {
      OperationReport(
        id: .init(id), name: "", className: "", queue: Scene.cpu, state: .executing,
        added: added.map { MonitorTime(nanoseconds: $0) })
    }
    var waiting = report(3, added: 10)
    waiting.state = .waiting
    let reports = [report(9, added: nil), waiting, report(8, added: 20), report(1, added: 30)]
    let keys = reports.shuffled().map { SortKey($0, by: .added) }.sorted()
    #expect(keys.map(\.id) == reports.map(\.id))
    // Version 1.1 does not know this order.
    let order = SortOrder(by: .added, isReversed: true)
    #expect(order.understood(by: .current) == order)
    let earlier = order.understood(by: ProtocolVersions(major: 1, minor: 1))
    #expect(earlier == SortOrder(by: .id, isReversed: true))
  }

  @Test func escapeClearsTheFilterAndThenTheSearch() {
    var dashboard = Scene.dashboard()
    let all = dashboard.list.rows.count
    dashboard.press("/merge")
    dashboard.press(.enter)
    dashboard.press("\\shard")
    dashboard.press(.enter)
    #expect(dashboard.list.rows.count < all)
    #expect(dashboard.press(.escape) == [])
    #expect(dashboard.list.rows.count == all && dashboard.text().shows("filter cleared"))
    #expect(dashboard.press("n") == [])
    #expect(dashboard.press(.escape) == [])
    #expect(dashboard.text().shows("search cleared"))
    #expect(dashboard.press("n") == [.bell])
    // The filter and the search are cleared, so the key Escape has no further effect. It never
    // quits the dashboard.
    #expect(dashboard.press(.escape) == [])
  }

  // MARK: Cut texts

  @Test("A cut list of blockers says how many more there are", arguments: [60, 80, 100, 200])
  func aCutListOfBlockersIsCounted(columns: Int) throws {
    var dashboard = Scene.dashboard(columns: columns)
    dashboard.press("1190")
    dashboard.press(.enter)
    let words = "#1190 waits for 21 \(columns == 60 ? "" : "of 31 ")dependencies: "
    let sentence = try #require(dashboard.text().first { $0.contains(words) })
    let named = sentence.split(separator: "#").count - 2
    #expect(sentence.hasSuffix(" and \(21 - named) more"), "\(sentence)")
    #expect(named == (columns == 200 ? 4 : named) && named >= 1)
  }

  @Test func theCutPaneCountsTheBlockersWithoutARow() {
    var dashboard = Scene.dashboard(columns: 120, rows: 24)
    dashboard.press("1190")
    dashboard.press(.enter)
    let text = dashboard.text()
    #expect(text.contains { $0.wholeMatch(of: /.*│ +and \d+ more; press [dD]/) != nil }, "\(text)")
    #expect(!text.shows("+ more; "))
    #expect(text.shows("more; press d"))
  }

  @Test func aScrolledNameBeginsWithAnEllipsis() {
    var dashboard = Scene.dashboard()
    func name(_ isUnicode: Bool = true) -> String? {
      dashboard.text(isUnicode: isUnicode).first { $0.contains("#1042") }
    }
    #expect(name()?.hasSuffix("  download tiles z=14 eu") == true)
    dashboard.press(.right)
    #expect(name()?.hasSuffix("  …tiles z=14 eu") == true)
    #expect(name(false)?.contains("  ~tiles z=14 eu") == true)
    dashboard.press(.left)
    #expect(name()?.hasSuffix("  download tiles z=14 eu") == true)
  }

  @Test func sortingByRunTimeShowsTheLongestFinishedRunFirst() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("srg")
    // The list begins with two finished operations, which ran for 2.75 s and 2.71 s. Other
    // operations have been in their present states for longer, but the order by run time does not
    // use this time.
    #expect(dashboard.list.rows.keys.prefix(2).map(\.id.rawValue) == [1_039, 1_038])
    let runs = dashboard.list.rows.keys.compactMap { key -> Duration? in
      guard let report = dashboard.live.operations[key.id], report.state.isOver else { return nil }
      return report.time(at: Scene.now)
    }
    #expect(runs == runs.sorted(by: >))
    // In the order by run time, running operations come after finished operations. The first of the
    // running operations is #1042, which has run for longest. Operations that never ran are last.
    let order = dashboard.list.rows.keys.map(\.id.rawValue)
    #expect(order[runs.count] == 1_042)
    let cancelled = try #require(order.firstIndex(of: 1_033))
    #expect(cancelled == order.count - 1)
  }

  @Test("The menu of orders is complete", arguments: [80, 99, 100, 120])
  func theMenuIsWhole(columns: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: 24)
    dashboard.press("s")
    #expect(dashboard.text().contains { $0.hasPrefix(" sort: i Id") && $0.hasSuffix(" Esc") })
  }

  @Test func theSortColumnWrapsAround() {
    var dashboard = Scene.dashboard()
    let columns = SortOrder.Column.allCases
    for _ in columns { dashboard.press(">") }
    #expect(dashboard.list.listing.order.column == .state)
    for _ in columns { dashboard.press("<") }
    #expect(dashboard.list.listing.order.column == .state)
  }

  @Test func theSelectionStaysOnItsOperationWhenTheOrderChanges() {
    var dashboard = Scene.dashboard()
    dashboard.press("jjjjj")
    let chosen = dashboard.list.selection.id
    for keys in ["sn", "I", "sp", "su", "i"] {
      dashboard.press(keys)
      #expect(dashboard.list.selection.id == chosen)
      #expect(dashboard.visibleKeys.contains { $0.id == chosen })
    }
  }

  @Test func aPinnedRowKeepsItsLine() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("jjjjjjjjF")
    let chosen = try #require(dashboard.list.selection.id)
    func line() -> Int? { dashboard.visibleKeys.map(\.id).firstIndex(of: chosen) }
    let before = line()
    // Three new operations appear above the selected operation, which must stay in its line.
    dashboard.update(
      changed: (1...3).map {
        OperationReport(
          id: ID($0), name: "new", className: "Block", queue: Scene.io, state: .executing,
          started: Scene.seconds(1))
      })
    #expect(line() == before)
  }

  @Test("More than 500 rows are marked as cut, and the selected row stays")
  func manyRows() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.update(
      changed: (10_000..<11_000).map {
        OperationReport(
          id: ID($0), name: "job \($0)", className: "Block", queue: Scene.io, state: .waiting,
          added: Scene.seconds(90))
      })
    #expect(dashboard.list.rows.count == ListRows.limit)
    #expect(dashboard.text().shows("operations 500 of 1,051"))
    dashboard.press("10999")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id != ID(10_999))
    dashboard.press("G")
    let last = dashboard.list.selection.id
    dashboard.press("I")
    #expect(dashboard.list.selection.id == last)
    #expect(dashboard.list.rows.count == ListRows.limit + 1)
  }

  // MARK: Warnings

  private func warn(
    of warnings: [MonitorWarning], in dashboard: inout Dashboard, at time: MonitorTime = Scene.now
  ) {
    var update = Scene.update
    update.warnings = warnings
    update.time = time
    dashboard.take(.monitor(.update(update)))
  }

  @Test func theThirdExclamationMarkShowsAllRowsAgain() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    let all = dashboard.list.rows.count
    warn(
      of: [
        MonitorWarning(kind: .cancelNotHonoured, operations: [ID(1077)], count: 1),
        MonitorWarning(kind: .cycle, operations: [ID(1180), ID(1181)]),
      ], in: &dashboard)
    dashboard.press("!!")
    #expect(dashboard.connection.interest.showsWarnedOnly)
    #expect(dashboard.list.rows.keys.map(\.id) == [ID(1077), ID(1180), ID(1181)])
    #expect(dashboard.text().shows("operations 3 ─ warnings only ─ filter: none"))
    // If the warnings change, the list shows the operations of the new warnings.
    warn(of: [MonitorWarning(kind: .cycle, operations: [ID(1181)])], in: &dashboard)
    #expect(dashboard.list.rows.keys.map(\.id) == [ID(1181)])
    dashboard.press("\\download")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation matches the filter"))
    dashboard.press("!\\")
    dashboard.take(.input(.control("u")))
    dashboard.press(.enter)
    #expect(dashboard.list.rows.count == all)
    #expect(!dashboard.connection.interest.showsWarnedOnly)
  }

  @Test func aNarrowScreenShowsTheFilterBesideTheSentence() {
    var dashboard = Scene.dashboard()
    warn(of: [MonitorWarning(kind: .fanOut, operations: [ID(1101)], count: 20)], in: &dashboard)
    dashboard.press("!!")
    #expect(dashboard.text()[21].hasSuffix("warnings only"))
  }

  @Test func anEmptyListOfWarningsNamesTheKeyThatShowsAll() {
    var dashboard = Scene.dashboard()
    dashboard.press("!!")
    #expect(dashboard.list.rows.count == 0)
    #expect(dashboard.text().shows("no operation has a warning; press ! to show all operations"))
    // A finished operation has a warning. The key `H` then hides finished operations, so the list
    // of operations with warnings becomes empty.
    warn(of: [MonitorWarning(kind: .fanOut, operations: [ID(1099)])], in: &dashboard)
    #expect(dashboard.list.rows.count == 1)
    dashboard.press("H")
    #expect(
      dashboard.text().shows(
        "no operation with a warning is listed; press ! to show all operations"))
  }

  @Test("The notice says why an operation has no row")
  func hiddenOperationsAreReported() {
    var dashboard = Scene.dashboard()
    func said(_ id: Int) -> [String] {
      dashboard.press("\(id)")
      dashboard.press(.enter)
      return dashboard.text()
    }
    dashboard.press("!!")
    #expect(said(1101).shows("#1101 has no warning; press ! to show all operations"))
    dashboard.press("!\\upload")
    dashboard.press(.enter)
    #expect(said(1101).shows("#1101 does not match the filter; press \\ to change it"))
    dashboard.press("H")
    #expect(said(1099).shows("#1099 is finished and hidden; press H to show it"))
  }

  // MARK: Search

  @Test func aSearchSelectsTheFirstMatchAndThenTheNext() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("/merge")
    #expect(dashboard.list.selection.id == ID(1103))
    dashboard.press(.enter)
    dashboard.press("n")
    #expect(dashboard.list.selection.id == ID(1104))
    dashboard.press("NN")
    let names = reports(dashboard).map(\.name)
    #expect(
      names.lastIndex { $0.contains("merge") }
        == dashboard.list.rows.index(of: dashboard.list.selection.id))
  }

  @Test func aCancelledSearchRestoresTheSelection() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("jj")
    let before = dashboard.list.selection.id
    dashboard.press("/publish")
    #expect(dashboard.list.selection.id == ID(1200))
    for _ in 0..<7 { dashboard.press(.backspace) }
    #expect(dashboard.list.selection.id == before)
    dashboard.press(.escape)
    #expect(dashboard.prompts.text == nil)
    #expect(dashboard.press("n") == [.bell])
  }

  @Test func aSearchWithoutAMatchShowsANotice() {
    var dashboard = Scene.dashboard()
    dashboard.press("/zebra")
    dashboard.press(.enter)
    #expect(dashboard.press("n") == [.bell])
    #expect(dashboard.text().shows("no match for zebra"))
  }

  // MARK: Scrolling

  @Test func longNamesCanBeScrolled() {
    var dashboard = Scene.dashboard(rows: 60)
    #expect(!dashboard.text().shows("and the islands"))
    for _ in 0..<3 { dashboard.press(.right) }
    #expect(dashboard.text().shows("and the islands"))
    for _ in 0..<9 { dashboard.press(.left) }
    #expect(dashboard.text().shows("download tiles z=15"))
  }
}
