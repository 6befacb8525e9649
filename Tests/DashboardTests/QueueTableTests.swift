// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The table of queues")
struct QueueTableTests {
  private static let sizes = [(80, 24), (120, 40), (200, 60)]

  /// Names in several scripts and widths, with characters that are invisible, combine or control a terminal.
  private static let names = [
    "画像の縮小処理", "👩‍👩‍👧‍👦 family", "🏳️‍🌈", "שלום עולם", "مرحبا بالعالم", "e\u{301}\u{302}\u{303}xport",
    "\u{1B}[2J\u{1B}]0;x\u{7}", "a\tb\nc\r", "\u{202E}evil\u{202C}", "\u{200B}\u{FEFF}zero", "क्षत्रिय",
    "",
    "한국어 작업",
  ]

  private static func dashboard(
    _ columns: Int, _ rows: Int, _ change: (inout Update) -> Void = { _ in }
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows)
    dashboard.take(.input(.alt("3")))
    var update = ViewScene.update
    update.time = dashboard.now
    change(&update)
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }

  private static func heading(_ dashboard: Dashboard) -> [String] {
    let line = dashboard.text().first { $0.hasPrefix("  QUEUE") } ?? ""
    return line.split(separator: " ").map(String.init)
  }

  @Test("QV-1: A wider screen has more columns and more seconds of starts")
  func columns() {
    let narrow = Self.heading(Self.dashboard(80, 24))
    let most = [
      "QUEUE", "SLOTS", "READY", "FAIL", "CANC", "RATE", "STARTS", "USE", "SLOT50", "SLOT99",
    ]
    #expect(narrow == most)
    let wide = Self.heading(Self.dashboard(120, 40))
    #expect(wide.count == most.count + 3 && Set(wide).isSuperset(of: ["HELD", "WAIT", "FIN"]))
    let widest = Self.heading(Self.dashboard(200, 60))
    #expect(Set(widest).isSuperset(of: ["RUN50", "RUN99"]))
    let cells = Self.sizes.map { columns, rows in
      QueueColumnPlan(of: Self.dashboard(columns, rows), columns: columns)[.starts]?.count ?? 0
    }
    #expect(cells[0] >= 8 && cells[1] >= 20 && cells[2] == QueueHistory.capacity)
  }

  @Test("QV-1: A table of several processes with 80 columns leaves out further columns")
  func columnsOfSeveralProcesses() {
    typealias Column = QueueColumnPlan.Column
    func missing(_ processWidth: Int) -> Set<Column> {
      let plan = QueueColumnPlan(within: 0..<80, processWidth: processWidth, nameWidth: 16)
      return Set(Column.allCases.filter { plan[$0] == nil })
    }
    let always: Set<Column> = [.executing, .waiting, .finished, .held, .runMedian, .runMost]
    #expect(missing(0) == always.union([.process]))
    #expect(missing(9) == always.union([.use, .cancelled]))
  }

  @Test("QV-1: Columns never overlap and fill the screen", arguments: 40...220)
  func columnPlan(columns: Int) {
    for (processWidth, nameWidth) in [(0, 5), (0, 60), (9, 12), (20, 32)] {
      let plan = QueueColumnPlan(
        within: 0..<columns, processWidth: processWidth, nameWidth: nameWidth)
      let ranges = QueueColumnPlan.Column.allCases.compactMap { plan[$0] }
      for (left, right) in zip(ranges, ranges.dropFirst()) {
        #expect(left.upperBound <= right.lowerBound)
      }
      #expect((ranges.last?.upperBound ?? 0) >= columns - 1)
      #expect((plan[.name]?.count ?? 0) >= min(15, columns - 25 - processWidth))
    }
  }

  @Test("QV-1: The row shows starts, rate, use and slot waits", arguments: sizes)
  func values(columns: Int, rows: Int) throws {
    let text = Self.dashboard(columns, rows).text()
    let cpu = try #require(text.first { $0.hasPrefix("▌ cpu") })
    for words in [" 0.4 ", "█", "▁", " 100% ", "240ms", "4.12s"] {
      #expect(cpu.contains(words), "\(words)")
    }
    let net = try #require(text.first { $0.hasPrefix("  net") })
    #expect(net.contains("SUSPENDED") && net.contains(" 0 ▁▁▁▁") && net.contains(" 0% "))
    #expect(net.hasSuffix("–      –"))
  }

  @Test("QV-1: A queue without a width shows how many operations execute", arguments: sizes)
  func defaultWidth(columns: Int, rows: Int) throws {
    let dashboard = Self.dashboard(columns, rows) { $0.queues[1].width = nil }
    let row = try #require(dashboard.text().first { $0.hasPrefix("  io") })
    #expect(row.contains("2 exec") && row.contains(" ~2.0 "))
  }

  @Test("QV-1: Failed operations are red, and zeros are dim")
  func failures() throws {
    let dashboard = Self.dashboard(80, 24) { $0.queues[1].counts.failed = 7 }
    let plan = QueueColumnPlan(of: dashboard, columns: 80)
    let column = try #require(plan[.failed]).upperBound - 1
    let first = try #require(dashboard.screen.layout).body.lowerBound
    #expect(dashboard.picture()[row: first + 1, column: column].style.role == .failed)
    #expect(dashboard.picture()[row: first + 2, column: column].style.role == .dim)
  }

  @Test("QV-5: The rows above the view of queues do not repeat the queues", arguments: sizes)
  func noRepetition(columns: Int, rows: Int) throws {
    let dashboard = Self.dashboard(columns, rows)
    let layout = try #require(dashboard.screen.layout)
    #expect(layout.queues == nil && layout.graph == nil && layout.rate != nil)
    let text = dashboard.text()
    #expect(!text.prefix(layout.headings).contains { $0.contains("cpu") || $0.contains("net") })
    #expect(text.count { $0.contains("SUSPENDED") } == 1)
  }

  @Test("QV-6: The operations of the selected queue are below the table", arguments: sizes)
  func summary(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns, rows)
    #expect(dashboard.text().shows("next: #1103 merge shard 5 waits for a free slot"))
    #expect(dashboard.text().shows("1 #1103 ready") && dashboard.text().shows("#1080 executing"))
    dashboard.press("jj")
    #expect(dashboard.text().shows("ready 12, held until the queue is resumed, next first"))
    #expect(dashboard.text().shows("1 #1110 held"))
    #expect(dashboard.wantedInterest.runOrder?.queues == [Scene.net])
  }

  @Test("QV-6: The operations below the table have headings if there are at least seven rows")
  func summaryHeadings() throws {
    for count in 0...9 {
      let dashboard = Self.dashboard(80, 24) { update in
        update.queues += (10..<10 + count).map {
          QueueReport(id: .init(UInt64($0)), name: "queue-\($0)", counts: StateCounts(), width: 4)
        }
      }
      let layout = try #require(dashboard.screen.layout)
      let rows = dashboard.queueSummaryRows(in: layout)?.count ?? 0
      #expect(dashboard.text().shows(" ID STATE ") == (rows >= 7), "\(count)")
      #expect(dashboard.text().shows("─ executing 2") == (rows >= 5), "\(count)")
      GoldenFrame.checkCells(of: dashboard.picture())
    }
  }

  @Test(
    "QV-6: Many queues leave no room for operations, and the next one is named below them",
    arguments: sizes)
  func manyQueues(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns, rows) { update in
      update.queues += (10..<206).map {
        QueueReport(id: .init($0), name: "queue-\($0)", counts: StateCounts(), width: 4)
      }
    }
    #expect(!dashboard.text().shows("executing 2, longest first"))
    #expect(dashboard.text().shows(" cpu next: #1103 merge shard 5"))
    dashboard.press("G")
    #expect(dashboard.text().shows("▌ queue-205"))
    #expect(dashboard.text().shows(" queue-205 no operation is ready"))
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test("QV-6: Without queues, the screen says so", arguments: sizes)
  func noQueues(columns: Int, rows: Int) {
    var dashboard = Dashboard(configuration: .init(title: "tiles"))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Update(time: Scene.now))))
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.text().shows("  no queues"))
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.text().shows("no queue is selected"))
  }

  // MARK: Names

  /// Returns a dashboard in which all queues, operations and kinds have one name.
  private static func dashboard(
    named name: String, _ columns: Int, _ rows: Int, opens: Bool = false
  ) -> Dashboard {
    var dashboard = dashboard(columns, rows) { update in
      for index in update.queues.indices { update.queues[index].name = name }
      for index in update.changed.indices {
        update.changed[index].name = name
        update.changed[index].givenKind = name
      }
    }
    if opens { dashboard.press(.enter) }
    return dashboard
  }

  @Test(
    "WN-1: Names of any script keep the columns of the table of queues aligned", arguments: sizes)
  func namesOfQueues(columns: Int, rows: Int) throws {
    func cells(_ name: String) throws -> [[Cell]] {
      let dashboard = Self.dashboard(named: name, columns, rows)
      let picture = dashboard.picture()
      GoldenFrame.checkCells(of: picture)
      let names = try #require(QueueColumnPlan(of: dashboard, columns: columns)[.name])
      let first = try #require(dashboard.screen.layout).body.lowerBound
      return (first..<first + 4).map { row in
        let row = Array(picture.row(row))
        return row.indices.filter { !names.contains($0) }.map { row[$0] }
      }
    }
    for name in Self.names {
      // The widest name determines the width of the column of names.
      let width = Glyphs(isUnicode: true).width(of: name)
      let plain = try cells(String(repeating: "n", count: width))
      #expect(try cells(name) == plain, "\(name.debugDescription)")
    }
  }

  @Test("WN-1: Names of any script keep the columns of the queue screen aligned", arguments: sizes)
  func namesOfOperations(columns: Int, rows: Int) throws {
    func cells(_ name: String) throws -> [[Cell]] {
      let dashboard = Self.dashboard(named: name, columns, rows, opens: true)
      let picture = dashboard.picture()
      GoldenFrame.checkCells(of: picture)
      let text = picture.text
      let headings = try #require(text.firstIndex { $0.contains("OPERATION") })
      let scalars = Array(text[headings].unicodeScalars)
      let titles = scalars.count - "OPERATION".count
      // The kind has any text, and a space follows it.
      let kind = text[headings].firstRange(of: "KIND").map { range in
        text[headings].unicodeScalars.distance(
          from: text[headings].unicodeScalars.startIndex, to: range.lowerBound)..<titles - 1
      }
      // Below the headings are two rules with two operations each.
      return [2, 3, 5, 6].map { row in
        let cells = Array(picture.row(headings + row))
        return cells.indices.filter { index in
          index == columns - 1 || index < titles && kind?.contains(index) != true
        }.map { cells[$0] }
      }
    }
    let plain = try cells("plain")
    #expect(plain.map { String($0.map { Character($0.scalar) }) }.allSatisfy { $0.contains("#1") })
    for name in Self.names { #expect(try cells(name) == plain, "\(name.debugDescription)") }
  }

  @Test("WN-1: Names of any script leave room for the typed limit and for the reason at 40 columns")
  func namesInSentences() {
    for name in Self.names + [String(repeating: "漢", count: 4_096)] {
      var dashboard = Self.dashboard(named: name, 40, 24, opens: true)
      #expect(dashboard.text().shows(" next: #1103 waits for a free slot (2/2)"), "\(name)")
      GoldenFrame.checkCells(of: dashboard.picture())
      dashboard.press("r5/s")
      #expect(dashboard.text().shows(": 5/s_"), "\(name)")
      GoldenFrame.checkCells(of: dashboard.picture())
      var narrow = Self.dashboard(named: name, 60, 24, opens: true)
      #expect(narrow.text().contains { $0.hasPrefix(" next: #1103") && $0.contains("(2/2)") })
      GoldenFrame.checkCells(of: narrow.picture())
      narrow.press("q")
      GoldenFrame.checkCells(of: narrow.picture())
    }
  }

  @Test("WN-2: Huge names are cut at the end of their columns", arguments: sizes)
  func hugeNames(columns: Int, rows: Int) throws {
    for unit in ["n", "漢", "e\u{301}", "\u{202E}", "👩‍👩‍👧‍👦"] {
      let name = String(repeating: unit, count: 4_096)
      for opens in [false, true] {
        let dashboard = Self.dashboard(named: name, columns, rows, opens: opens)
        GoldenFrame.checkCells(of: dashboard.picture())
        let text = dashboard.text()
        #expect(text.shows(opens ? "██ 2/2 ─" : "4.12s"))
        #expect(text.shows("2/2)"), "\(unit)")
      }
    }
  }
}
