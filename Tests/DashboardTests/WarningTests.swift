// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Warnings")
struct WarningTests {
  private typealias ID = OperationReport.ID

  private static let deadlocks = [
    MonitorWarning(kind: .cycle, operations: [ID(1180), ID(1181), ID(1200)], count: 12),
    MonitorWarning(
      kind: .slotDeadlock, operations: [ID(1042), ID(1051)], awaited: [ID(1103), ID(1104)],
      queue: Scene.io, count: 1),
    MonitorWarning(
      kind: .neverEnqueuedDependency, operations: [ID(1190)], awaited: [ID(7)],
      awaitedTitle: "probe health", count: 0),
  ]

  private static func dashboard(
    _ warnings: [MonitorWarning], columns: Int = 80, rows: Int = 24, readOnly: Bool = false
  ) -> Dashboard {
    var dashboard = Scene.dashboard(
      columns: columns, rows: rows, configuration: .init(title: "tiles", isReadOnly: readOnly))
    var update = Scene.update
    update.warnings = warnings
    dashboard.take(.monitor(.update(update)))
    // The first key hides the hint about the keys, in whose row the warnings are shown.
    dashboard.press("g")
    return dashboard
  }

  @Test("Each deadlock is named at the top with its fix", arguments: [(80, 24), (120, 40)])
  func deadlocksAtTheTop(columns: Int, rows: Int) {
    let dashboard = Self.dashboard(Self.deadlocks, columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "deadlocks-\(columns)x\(rows)")
    let text = dashboard.text()
    #expect(text.shows("#1180 → #1181 → #1200 → #1180; 12 more wait"))
    let isNarrow = columns < 120
    let comma = isNarrow ? "" : ","
    #expect(text.shows("#1042\(comma) #1051") && text.shows("#1103\(comma) #1104"))
    #expect(text.shows("#1190 waits for #7 probe health"))
    #expect(text.shows(isNarrow ? "→ cancel one (! x)" : "→ cancel one operation (! x)"))
    #expect(text.shows("→ widen the queue (! j +)"))
    #expect(text.shows("→ enqueue #7 or cancel #1190 (! jj x)"))
    // The banners take one row each, and each fix directly follows its text.
    let banners = text.filter { $0.contains("DEADLOCK") }
    #expect(banners.count == 3)
    for banner in banners {
      #expect(banner.contains(/\S  → (cancel one|widen|enqueue)/), "\(banner)")
    }
  }

  @Test(
    "If a task waits for an operation that is not in a queue, the banner names the operation and the fix"
  )
  func taskThatWaits() {
    let warning = MonitorWarning(
      kind: .neverEnqueuedDependency, operations: [], awaited: [ID(7)],
      awaitedTitle: "title", count: 0)
    for columns in [80, 120] {
      let text = Self.dashboard([warning], columns: columns).text()
      #expect(text.shows("a task waits for #7 title"))
      #expect(text.shows("→ enqueue #7") && !text.shows("or cancel"))
    }
  }

  @Test func withoutADeadlockThereIsNoBanner() {
    #expect(!Self.dashboard([]).text().shows("DEADLOCK"))
    let others = MonitorWarning.Kind.allCases.map { MonitorWarning(kind: $0) }
      .filter { !$0.isDeadlock }
    #expect(!Self.dashboard(others).text().shows("DEADLOCK"))
  }

  @Test("A read-only viewer is shown each fix without a key", arguments: [(80, 24), (200, 60)])
  func readOnlyFixes(columns: Int, rows: Int) {
    let text = Self.dashboard(Self.deadlocks, columns: columns, rows: rows, readOnly: true).text()
    let banners = text.filter { $0.contains("DEADLOCK") }
    #expect(banners.count == 3)
    for key in ["(x)", "(+", "(!", "Tab", "press", "Press"] {
      #expect(!banners.contains { $0.contains(key) }, "\(key)")
    }
    let fixes =
      columns < 120
      ? ["cancel one", "widen the queue", "enqueue #7 or cancel #1190"]
      : ["cancel one operation", "widen the queue", "enqueue #7 or cancel #1190"]
    for (banner, fix) in zip(banners, fixes) {
      #expect(banner.hasSuffix("→ \(fix)"), "\(banner)")
    }
  }

  private static func banners(of dashboard: Dashboard) -> [String] {
    dashboard.text().filter { $0.contains("DEADLOCK") }
  }

  @Test(
    "The keys that each deadlock names resolve it from each view",
    arguments: ["1", "2", "3", "4", "5"] as [Unicode.Scalar])
  func theKeysOfDeadlocksWork(view: Unicode.Scalar) {
    var dashboard = Self.dashboard(Self.deadlocks, columns: 120, rows: 40)
    dashboard.take(.input(.alt(view)))
    let results = ["Cancel #1180 ", "queue io: width 4 → 5 requested", "Cancel #1190 "]
    let banners = Self.banners(of: dashboard)
    #expect(banners.count == results.count)
    for (banner, result) in zip(banners, results) {
      let keys = banner.firstMatch(of: /\(([^()]+)\)$/)?.1 ?? ""
      var copy = dashboard
      copy.press(keys.filter { $0 != " " })
      #expect(copy.text().shows(result), "\(banner)")
    }
  }

  @Test func aDeadlockNamesTheDirectKeyIfTheKeyActsOnIt() {
    var dashboard = Self.dashboard(Self.deadlocks, columns: 120, rows: 40)
    dashboard.press("1181")
    dashboard.press(.enter)
    #expect(Self.banners(of: dashboard)[0].hasSuffix("→ cancel one operation (x)"))
    dashboard.take(.input(.alt("3")))
    dashboard.press("gj")
    #expect(Self.banners(of: dashboard)[1].hasSuffix("→ widen the queue (+)"))
    dashboard.press("j")
    #expect(Self.banners(of: dashboard)[1].hasSuffix("→ widen the queue (! j +)"))
  }

  @Test func aDeadlockDoesNotNameAKeyThatCancelsTaggedOperations() {
    var dashboard = Self.dashboard(Self.deadlocks, columns: 120, rows: 40)
    dashboard.press(" ")
    #expect(Self.banners(of: dashboard)[0].hasSuffix("→ cancel one operation"))
    #expect(Self.banners(of: dashboard)[1].hasSuffix("→ widen the queue (! j +)"))
    #expect(Self.banners(of: dashboard)[2].hasSuffix("→ enqueue #7 or cancel #1190"))
  }

  @Test func theKeysOfDeadlocksWorkWhileOnlyRowsWithWarningsAreListed() {
    var dashboard = Self.dashboard(Self.deadlocks, columns: 120, rows: 40)
    dashboard.press("!!")
    #expect(Self.banners(of: dashboard)[1].hasSuffix("→ widen the queue (! ! j +)"))
    #expect(dashboard.press("!!j+") == [.send(.setWidth(Scene.io, 5))])
  }

  @Test func aFixNamesNoKeyThatActsOnAnotherOperation() {
    var dashboard = Self.dashboard(
      [MonitorWarning(kind: .priorityInversion, operations: [ID(1200)], awaited: [ID(1110)])],
      columns: 120, rows: 40)
    #expect(dashboard.text().contains { $0.hasSuffix("→ raise the low priority") })
    dashboard.press("1110")
    dashboard.press(.enter)
    #expect(dashboard.text().contains { $0.hasSuffix("→ raise the low priority (})") })
  }

  @Test(
    "The sentence about an operation in a deadlock says what it waits for",
    arguments: [
      (1042, "#1042 holds a slot of io and waits for #1103: deadlock"),
      (1051, "#1051 holds a slot of io and waits for #1104: deadlock"),
      (1180, "#1180 waits for #1181 in a cycle of 3 operations: deadlock"),
      (1200, "#1200 waits for #1180 in a cycle of 3 operations: deadlock"),
      (1190, "#1190 waits for #7 probe health, which is not enqueued: deadlock"),
    ])
  func theSentenceNamesTheDeadlock(id: Int, sentence: String) {
    var dashboard = Self.dashboard(Self.deadlocks)
    dashboard.press("\(id)")
    dashboard.press(.enter)
    #expect(dashboard.text()[21] == " \(sentence)")
  }

  @Test func theSentenceAboutAReadyOperationNamesTheDeadlockOfItsQueue() {
    var dashboard = Self.dashboard([
      MonitorWarning(
        kind: .slotDeadlock, operations: [ID(1080), ID(1077)], awaited: [ID(1103), ID(1104)],
        queue: Scene.cpu)
    ])
    dashboard.press("1103")
    dashboard.press(.enter)
    #expect(dashboard.text()[21] == " #1103 ready; a deadlock holds all slots of cpu (2/2)")
  }

  @Test("The smallest screen keeps its list and the fix", arguments: [1, 3])
  func deadlocksOnASmallScreen(count: Int) {
    let dashboard = Self.dashboard(
      Array(Self.deadlocks.prefix(count)), columns: 40, rows: 10)
    GoldenFrame.checkCells(of: dashboard.picture())
    #expect(dashboard.text().shows("DEADLOCK"))
    #expect(dashboard.pageHeight >= 5)
  }

  @Test("Names in warnings are sanitised before they reach the terminal")
  func namesAreSanitised() {
    var warning = Self.deadlocks[2]
    warning.awaitedTitle = "a\u{1B}[2J\r\u{202E}b"
    GoldenFrame.checkCells(of: Self.dashboard([warning], columns: 120).picture())
  }

  @Test(
    "A warning is described in one sentence",
    arguments: [
      (
        MonitorWarning(
          kind: .cancelNotHonoured, operations: [ID(1077)], count: 1, since: Scene.seconds(97.8)),
        "! #1077 resample dem was cancelled 4.20s ago, still runs"
      ),
      (
        MonitorWarning(kind: .readyButNotStarted, queue: Scene.cpu, count: 20),
        "! queue cpu has free slots but does not start its 20 ready operations"
      ),
      (
        MonitorWarning(
          kind: .notReadyWithMetDependencies, operations: [ID(1180), ID(1181)], count: 2,
          since: Scene.seconds(97.8)),
        "! isReady of #1180 merge all shards and 1 more has been false for 4.20s"
      ),
      (
        MonitorWarning(
          kind: .mainQueueBlocked, queue: Scene.io, count: 3, since: Scene.seconds(97.8)),
        "! the main queue has not started its 3 ready operations for 4.20s"
      ),
      (
        MonitorWarning(
          kind: .finishedWithoutStart, operations: [ID(7)], title: "Fetch", count: 1),
        "! #7 Fetch finished without being started"
      ),
      (
        MonitorWarning(
          kind: .finishedWithoutStart, operations: [ID(1035), ID(7)], title: "Fetch", count: 12),
        "! 12 operations finished without a start, last: #1035 GET dem.idx"
      ),
      (
        MonitorWarning(
          kind: .priorityInversion, operations: [ID(1200)], awaited: [ID(1110), ID(1111)], count: 2),
        "! #1200 (very high) waits for #1110 (normal); 1 more"
      ),
      (
        MonitorWarning(
          kind: .slow, operations: [ID(1042)], count: 1, since: Scene.seconds(89.6),
          usual: .milliseconds(1_200)),
        "! #1042 download tiles z=14 eu has run 12.4s; kind p99 is 1.20s"
      ),
      (
        MonitorWarning(
          kind: .leaking, operations: [ID(7), ID(8)], title: "Fetch", count: 2,
          since: Scene.seconds(12)),
        "! #7 Fetch and 1 more are in memory 1m30s after finishing"
      ),
      (
        MonitorWarning(kind: .fanOut, operations: [ID(1180)], count: 12_345),
        "! 12,345 operations depend on #1180 merge all shards"
      ),
      (
        MonitorWarning(kind: .threadLimit, count: 3, limit: 512),
        "! all 512 threads are in use; 3 queues have no free thread"
      ),
      (
        MonitorWarning(kind: .threadLimit, count: 1, limit: 512),
        "! all 512 threads are in use; 1 queue has no free thread"
      ),
    ])
  func sentences(warning: MonitorWarning, sentence: String) {
    #expect(Self.dashboard([warning]).text().shows(sentence))
    let two = Self.dashboard([warning, MonitorWarning(kind: .fanOut)])
    #expect(two.text().shows("\(sentence)  (+1)"))
  }

  @Test("Each kind has a sentence of its own that fits 80 columns", arguments: [false, true])
  func everyKind(readOnly: Bool) {
    let text = WarningText(
      dashboard: Self.dashboard([], readOnly: readOnly), glyphs: Glyphs(isUnicode: true))
    var sentences: Set<String> = []
    for kind in MonitorWarning.Kind.allCases {
      let warning = MonitorWarning(
        kind: kind, operations: [ID(1033), ID(1180)], awaited: [ID(1103)],
        awaitedTitle: "a name that is longer than most", queue: Scene.index, count: 120,
        since: Scene.seconds(1.2), usual: .milliseconds(15_400))
      let sentence = text.sentence(warning)
      #expect(!sentence.isEmpty && sentences.insert(sentence).inserted)
      #expect(!text.wayOut(warning).isEmpty)
      let shortWayOut = text.shortWayOut(warning)
      #expect(!shortWayOut.isEmpty && shortWayOut.count <= 32)
      if kind.isDeadlock {
        // If a sentence about a deadlock is too long for its line, it is cut. The fix after the
        // sentence is never cut.
        #expect(text.shortSentence(warning).count < sentence.count)
      } else {
        let line = text.line([warning], width: 79) ?? ""
        #expect(line.hasPrefix("! \(sentence)") && line.count <= 79, "\(line)")
      }
    }
  }

  @Test func aFixIsShownOnAWideScreen() {
    let warning = MonitorWarning(
      kind: .cancelNotHonoured, operations: [ID(1077)], count: 1, since: Scene.seconds(97.8))
    #expect(Self.dashboard([warning]).text().shows("still runs  → check isCancelled"))
    #expect(!Self.dashboard([warning], columns: 60).text().shows("check isCancelled"))
  }

  @Test func theHeaderCountsWarnings() {
    let two = [MonitorWarning(kind: .fanOut), MonitorWarning(kind: .cycle)]
    #expect(Self.dashboard(two).text()[0].hasSuffix("queues                   ! 2  12:04:31"))
    #expect(!Self.dashboard([]).text()[0].contains("!"))
    let narrow = Self.dashboard(two, columns: 40, rows: 10).text()[0]
    #expect(narrow.hasSuffix("  ! 2"), "\(narrow)")
  }

  @Test func aPriorityInversionMarksBothOperations() {
    let dashboard = Self.dashboard(
      [MonitorWarning(kind: .priorityInversion, operations: [ID(1200)], awaited: [ID(1103)])],
      rows: 60)
    let marked = dashboard.text().filter { $0.dropFirst().hasPrefix("!") && $0.contains("#") }
    #expect(marked.shows("#1200") && marked.shows("#1103") && !marked.shows("#1051"))
  }

  @Test func theRowsConcernedAreMarked() {
    let dashboard = Self.dashboard(
      [MonitorWarning(kind: .cancelNotHonoured, operations: [ID(1077)], count: 1)], rows: 60)
    let marked = dashboard.text().filter { $0.dropFirst().hasPrefix("!") && $0.contains("#") }
    #expect(marked.contains { $0.contains("#1077") })
    #expect(!marked.contains { $0.contains("#1051") })
  }
}
