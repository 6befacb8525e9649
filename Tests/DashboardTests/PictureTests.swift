// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The contents of the picture")
struct PictureTests {
  private typealias ID = OperationReport.ID

  /// Returns the numbers in a line of text, in their order.
  private func numbers(in line: String) -> [Int] {
    line.split { !$0.isNumber }.compactMap { Int($0) }
  }

  @Test("The counts add up, and are those of the queues, not of the rows", arguments: [80, 120])
  func countsAddUp(columns: Int) throws {
    var dashboard = Scene.dashboard(columns: columns)
    dashboard.update(removed: dashboard.list.rows.keys.prefix(20).map(\.id))
    let counts = dashboard.live.counts
    #expect(counts.isConsistent)
    let line = try #require(dashboard.text().first { $0.contains("exec ") })
    let shown = numbers(in: line)
    // The line has these numbers: finished, exec, ready, (held), wait, cancelled, (+cancelling),
    // total. A narrow line does not have the number of held operations.
    let held = columns < 120 ? [] : [12]
    try #require(shown.count == 7 + held.count)
    let rest = shown[(3 + held.count)...]
    #expect(Array(shown[3..<rest.startIndex]) == held)
    let sum = shown[0..<3].reduce(0, +) + rest.prefix(2).reduce(0, +)
    #expect(sum == 854)
    #expect(rest.suffix(2) == [1, 854])
  }

  @Test(
    "Cancelling operations are shown with the cancelled ones, never as a part of the executing ones"
  )
  func cancellingBelongsToTheCancelled() {
    #expect(Scene.dashboard(columns: 140).text().shows("cancelled 9 (+1 cancelling) "))
    #expect(Scene.dashboard(columns: 80).text().shows("canc 9 (+1) "))
  }

  @Test("Every class that is not empty gets a cell", arguments: [1, 5, 6, 40, 80, 200])
  func proportionsFillTheBar(width: Int) {
    let counts = StateCounts(
      waiting: 1, ready: 1, executing: 1, finished: 1_000_000, cancelled: 1, total: 1_000_004)
    let bar = ProportionBar(counts: counts, width: width)
    if width >= 5 {
      #expect(bar.cells.allSatisfy { $0.width >= 1 })
      #expect(bar.cells.reduce(0) { $0 + $1.width } == width)
    } else {
      #expect(bar.cells.isEmpty)
    }
  }

  @Test(
    "The largest counts that a process can report have proportions", arguments: [5, 80, 10_000])
  func theLargestCountsHaveProportions(width: Int) {
    let largest = 1 << 60
    let bar = ProportionBar(
      counts: StateCounts(
        waiting: largest, ready: largest, executing: largest, finished: largest,
        cancelled: largest, total: .max), width: width)
    #expect(bar.cells.allSatisfy { $0.width == width / 5 })
  }

  @Test func everyStateIsInTheTextAndNotOnlyInColors() {
    let dashboard = Scene.dashboard(columns: 80, rows: 80)
    for isUnicode in [true, false] {
      let text = dashboard.text(isUnicode: isUnicode)
      for id in dashboard.list.rows.keys.map(\.id) {
        guard let report = dashboard.live.operations[id] else { continue }
        let row = text.first { $0.contains("\(id) ") && !$0.hasPrefix(" #") }
        #expect(row?.contains(report.state.rawValue) == true, "\(id)")
      }
      #expect(text.shows("LIVE"))
      #expect(text.shows("SUSPENDED"))
      #expect(text.count { $0.hasPrefix(isUnicode ? "▌" : ">") } == 1)
    }
  }

  @Test func asciiModeDrawsOnlyASCII() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "漢字 é ▌", className: "Block", queue: Scene.io, state: .executing)
    ])
    for keys in ["", "t", "?", "qqx", "nX"] {
      dashboard.press(keys)
      let grid = dashboard.picture(isUnicode: false)
      #expect(grid.cells.allSatisfy { $0.scalar.isASCII && $0.mark == nil })
    }
  }

  @Test(
    "One sentence says why the selected operation does not run, or what it does",
    arguments: [
      (1042, "#1042 executing 12.4s on io, 1 waits for it"),
      (1077, "#1077 cancel requested 4.20s ago, still running"),
      (1103, "#1103 ready; all slots of cpu are in use (2/2)"),
      (1110, "#1110 held: net is suspended; press S to resume it"),
      (1180, "#1180 waits for 2 of 3 dependencies: #1042 executing 12.4s, #1101 waiting"),
      (1099, "#1099 finished at 12:03:59, ran 410ms"),
      (1033, "#1033 cancelled at 12:03:49, never started"),
    ])
  func theSentence(id: Int, sentence: String) {
    var dashboard = Scene.dashboard()
    dashboard.press("\(id)")
    dashboard.press(.enter)
    #expect(dashboard.text()[21].contains(sentence), "\(dashboard.text()[21])")
  }

  @Test(
    "The dashboard requests each dependency that the sentence of the selected operation counts",
    arguments: [(3, 80, 64), (3, 200, 300), (2_000, 80, 2_001), (50_000, 200, 10_001)])
  func theDependenciesInTheSentenceAreRequested(count: Int, columns: Int, limit: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: 60)
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "index", className: "Block", queue: Scene.io, state: .waiting,
        dependencies: (0..<count).map { ID(10_000 + $0) }, unmetDependencyCount: count)
    ])
    dashboard.press("7")
    dashboard.press(.enter)
    let graphs = dashboard.connection.interest.graphs.filter { $0.direction == .waitsFor }
    #expect(graphs == [Interest.Graph(root: ID(7), direction: .waitsFor, limit: limit)])
  }

  @Test func theSentenceMentionsUnknownDependencies() {
    var dashboard = Scene.dashboard()
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "", className: "Block", queue: Scene.io, state: .waiting,
        dependencies: [ID(1042), ID(5_000)], unmetDependencyCount: 2),
      OperationReport(
        id: ID(8), name: "", className: "Block", queue: Scene.io, state: .waiting),
    ])
    dashboard.press("7")
    dashboard.press(.enter)
    #expect(
      dashboard.text().shows(
        "#7 waits for 2 of 2 dependencies: #1042 executing 12.4s, 1 unknown"))
    var update = Scene.update
    update.warnings = [
      MonitorWarning(
        kind: .neverEnqueuedDependency, operations: [ID(9)], awaited: [ID(5_000)], count: 1)
    ]
    dashboard.take(.monitor(.update(update)))
    #expect(
      dashboard.text().shows(
        "#7 waits for 2 of 2 dependencies: #1042 executing 12.4s, 1 not in a queue"))
    dashboard.press("8")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("#8 waiting: its own isReady is false"))
  }

  @Test func theSentenceExaminesOnlyTheFirstDependencies() {
    var dashboard = Scene.dashboard()
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "", className: "Block", queue: Scene.io, state: .waiting,
        dependencies: [ID(1042)] + (0..<10_000).map { ID(10_000 + $0) },
        unmetDependencyCount: 9_000)
    ])
    dashboard.press("7")
    dashboard.press(.enter)
    #expect(
      dashboard.text().shows(
        "#7 waits for 9,000 of 10,001 dependencies: #1042 executing 12.4s and 8,999 more"))
  }

  @Test func theSentenceNamesAnExclusionAsTheReason() {
    var dashboard = Scene.dashboard()
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "", className: "Block", queue: Scene.io, state: .waiting, isExcluded: true)
    ])
    dashboard.press("7")
    dashboard.press(.enter)
    #expect(
      dashboard.text().shows(
        "#7 waiting for an exclusion that another operation holds"))
  }

  @Test(arguments: [
    (Duration.zero, "0ms"), (.milliseconds(12), "12ms"), (.microseconds(999_999), "999ms"),
    (.milliseconds(1_150), "1.15s"), (.milliseconds(9_999), "9.99s"),
    (.milliseconds(12_400), "12.4s"),
    (.milliseconds(59_990), "59.9s"), (.seconds(60), "1m00s"), (.seconds(100), "1m40s"),
    (.seconds(11_400), "3h10m"), (.seconds(86_400 * 2 + 3_600 * 4), "2d04h"),
    (.seconds(86_400 * 1_000), "1000d"), (.seconds(-5), "0ms"),
  ])
  func durationsAreShort(duration: Duration, text: String) {
    #expect(TimeText.duration(duration) == text)
    #expect(text.utf8.count <= 6)
  }

  @Test func theTimeOfDayIsComputedFromTheAnchor() {
    var hello = Scene.hello
    #expect(TimeText.timeOfDay(Scene.now, of: hello) == "12:04:31")
    hello.anchorSecondsSince1970 = 86_399.5
    #expect(TimeText.timeOfDay(hello.anchor, of: hello) == "23:59:59")
    #expect(TimeText.timeOfDay(hello.anchor + .milliseconds(500), of: hello) == "00:00:00")
    hello.anchorSecondsSince1970 = .infinity
    #expect(TimeText.timeOfDay(hello.anchor, of: hello) == "--:--:--")
  }

  @Test("5.4: ages tick once a second, and only while a row that ages is on screen")
  func agesTickOnlyWhileTheyAreSeen() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.nextTick(after: Scene.now) == Scene.now + .seconds(1))
    let between = Scene.now + .milliseconds(300)
    #expect(dashboard.nextTick(after: between) == Scene.now + .seconds(1))
    dashboard.press("?")
    #expect(dashboard.nextTick(after: Scene.now) == nil)
    dashboard.press("qp")
    #expect(dashboard.nextTick(after: Scene.now) == nil)
    dashboard.press("p")
    #expect(dashboard.nextTick(after: Scene.now) != nil)
    let unfinished = dashboard.list.rows.keys.filter { !$0.isOver }.map(\.id)
    dashboard.update(removed: unfinished)
    #expect(dashboard.nextTick(after: Scene.now) == nil)
  }

  @Test func aPausedPictureDoesNotChangeWithTheModel() {
    var dashboard = Scene.dashboard()
    dashboard.press("jp")
    #expect(dashboard.text()[0].contains("PAUSED"))
    let paused = dashboard.picture()
    dashboard.update(
      changed: [
        OperationReport(
          id: ID(7), name: "new one", className: "Block", queue: Scene.io, state: .executing)
      ], removed: [ID(1042)], at: Scene.now + .seconds(9))
    dashboard.take(.tick(Scene.now + .seconds(10)))
    #expect(dashboard.picture() == paused)
    dashboard.press("p")
    #expect(dashboard.text().shows("new one"))
    #expect(!dashboard.text().shows("#1042"))
  }

  @Test func anEndedProcessStaysBrowsableAndDoesNotAge() {
    var dashboard = Scene.dashboard()
    dashboard.take(.monitor(.ended(reason: "it exited")))
    let before = dashboard.picture()
    dashboard.take(.tick(Scene.now + .seconds(60)))
    #expect(dashboard.picture() == before)
    #expect(dashboard.nextTick(after: Scene.now) == nil)
    dashboard.press("jt")
    #expect(dashboard.text().shows("ENDED"))
    #expect(dashboard.text().shows("ROOTS"))
  }

  @Test func lostChangesAreShown() {
    var dashboard = Scene.dashboard()
    #expect(!dashboard.text().shows("recorded"))
    dashboard.press("j")
    var update = Update(time: Scene.now, queues: Scene.queues, lostChanges: 1_204)
    dashboard.take(.monitor(.update(update)))
    #expect(
      dashboard.text()[0].hasSuffix("LIVE           events not recorded: 1,204 (counts exact)"))
    update.warnings = [MonitorWarning(kind: .historyLost, count: 1_204)]
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text()[0].hasSuffix("events not recorded: 1,204 (counts exact)  ! 1"))
    #expect(
      dashboard.text().shows("1,204 state changes were not recorded; current states are exact"))
    dashboard.take(.resized(Size(columns: 60, rows: 16)))
    #expect(dashboard.text()[0].hasSuffix("LIVE        not recorded: 1,204  ! 1"))
    // Warnings about the present state are shown before warnings about the past.
    update.warnings.insert(MonitorWarning(kind: .readyButNotStarted, queue: Scene.cpu), at: 0)
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("cpu has free slots"))
  }
}
