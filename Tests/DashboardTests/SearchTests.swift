// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The search in the list")
struct SearchTests {
  private typealias ID = OperationReport.ID

  private static let jobs = (1...700).map { number in
    OperationReport(
      id: ID(number), name: "job \(number)", className: "BlockOperation", queue: Scene.cpu,
      state: .ready, added: Scene.seconds(1), becameReady: Scene.seconds(Double(number) / 100))
  }

  /// Returns a dashboard of 700 operations. The list has rows for the first 500 of them.
  private static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var configuration = Dashboard.Configuration(title: "jobs")
    configuration.settings.usesMouse = true
    var dashboard = Dashboard(configuration: configuration)
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update(of: jobs))))
    return dashboard
  }

  @Test("A text without a match is reported while it is typed")
  func noMatchIsReportedAtOnce() {
    var dashboard = Self.dashboard()
    dashboard.press("/z")
    #expect(dashboard.text().shows("find: z_   no match · Enter accept"))
    #expect(dashboard.list.selection.id == ID(1))
    dashboard.press(.enter)
    #expect(dashboard.text().shows("/z: no match"))
    #expect(dashboard.press("n") == [.bell])
    #expect(dashboard.text().shows("no match for z"))
  }

  @Test("A search finds an operation that has no row, and selects it")
  func operationsWithoutARowAreFound() {
    var dashboard = Self.dashboard()
    #expect(dashboard.list.rows.count == 500)
    dashboard.press("/job 650")
    #expect(dashboard.list.selection.id == ID(650))
    #expect(dashboard.text().shows("find: job 650_   1 of 1 · Enter accept"))
    #expect(dashboard.text().shows("job 650"))
  }

  @Test("n and N go through all matches in the order of the list, and the position is exact")
  func thePositionIsExact() {
    var dashboard = Self.dashboard()
    dashboard.press("/00")
    dashboard.press(.enter)
    // The matches are the operations with the ids 100, 200, ... 700.
    for (key, id, position) in [
      ("", 100, 1), ("n", 200, 2), ("nnn", 500, 5), ("nn", 700, 7), ("n", 100, 1), ("N", 700, 7),
      ("N", 600, 6),
    ] {
      dashboard.press(key)
      #expect(dashboard.list.selection.id == ID(id))
      #expect(dashboard.text().shows("/00: \(position) of 7"), "\(key) \(id)")
    }
    dashboard.press("kg")
    #expect(dashboard.text().shows("/00: 7 matches"))
    dashboard.press("n")
    #expect(dashboard.list.selection.id == ID(100))
  }

  @Test("The position is exact among more matches than the monitor reports at once")
  func thePositionAmongManyMatches() {
    var dashboard = Self.dashboard()
    dashboard.press("/job")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("/job: 1 of 700"))
    dashboard.press("N")
    #expect(dashboard.list.selection.id == ID(700) && dashboard.text().shows("/job: 700 of 700"))
    for _ in 0..<100 { dashboard.press("N") }
    #expect(dashboard.list.selection.id == ID(600) && dashboard.text().shows("/job: 600 of 700"))
  }

  @Test("Keys that are pressed before the monitor answers add up")
  func keysAddUpUntilTheAnswer() {
    var dashboard = Self.dashboard()
    func type(_ key: String) {
      for letter in key.unicodeScalars { _ = dashboard.reduce(.input(.character(letter))) }
    }
    type("/00")
    #expect(dashboard.text().shows("find: 00_   searching"))
    _ = dashboard.reduce(.input(.key(.enter)))
    #expect(dashboard.list.selection.id == ID(1))
    dashboard.update()
    #expect(dashboard.list.selection.id == ID(100))
    // The answer is for an earlier selection, and does not contain the present one.
    type("j")
    type("nn")
    #expect(dashboard.list.selection.id == ID(101))
    dashboard.update()
    #expect(dashboard.list.selection.id == ID(300))
  }

  @Test(
    "A late match does not move the selection after another key",
    arguments: [("j", 2), ("jk", 1), ("g", 1), (" ", 2), ("}", 1), ("?q", 1)])
  func aLateMatchDoesNotMoveTheSelection(keys: String, id: Int) {
    expectNoLateMatch(after: keys.unicodeScalars.map { .character($0) }, id: id)
  }

  @Test("MS-5, MS-7, MS-10: A late match does not move the selection after the mouse")
  func aLateMatchDoesNotMoveTheSelectionAfterTheMouse() throws {
    let layout = try #require(Self.dashboard().screen.layout)
    func press(_ row: Int) -> Input { .mouse(MouseInput(.press, row: row, column: 8)) }
    expectNoLateMatch(after: [press(layout.body.lowerBound + 2)], id: 3)
    expectNoLateMatch(after: [press(layout.headings)], id: 1)
    expectNoLateMatch(after: [.mouse(MouseInput(.wheelDown, row: 12, column: 8))], id: 4)
  }

  /// Checks that a match of a search, which the monitor reports after these inputs, does not move the selection.
  private func expectNoLateMatch(after inputs: [Input], id: Int) {
    var dashboard = Self.dashboard()
    func type(_ key: String) {
      for letter in key.unicodeScalars { _ = dashboard.reduce(.input(.character(letter))) }
    }
    type("/00")
    _ = dashboard.reduce(.input(.key(.enter)))
    for input in inputs { _ = dashboard.reduce(.input(input)) }
    for _ in 0..<3 {
      dashboard.update()
      #expect(dashboard.list.selection.id == ID(id))
    }
    #expect(dashboard.text().shows("/00: 7 matches"))
    // The next match is the one below the selected operation.
    dashboard.press("n")
    #expect(dashboard.list.selection.id == ID(100))
    // The same holds for the keys n and N.
    type("nnnnN")
    for input in inputs { _ = dashboard.reduce(.input(input)) }
    let selected = dashboard.list.selection.id
    for _ in 0..<3 {
      dashboard.update()
      #expect(dashboard.list.selection.id == selected)
    }
  }

  @Test("A typed number selects its operation, also if a match is reported later")
  func aLateMatchDoesNotReplaceATypedNumber() {
    var dashboard = Self.dashboard()
    for letter in "/00".unicodeScalars { _ = dashboard.reduce(.input(.character(letter))) }
    _ = dashboard.reduce(.input(.key(.enter)))
    for letter in "42".unicodeScalars { _ = dashboard.reduce(.input(.character(letter))) }
    _ = dashboard.reduce(.input(.key(.enter)))
    for _ in 0..<3 {
      dashboard.update()
      #expect(dashboard.list.selection.id == ID(42))
    }
  }

  @Test("The key that repaints the screen does not stop a search that is being typed")
  func repaintingKeepsTheSearch() {
    var dashboard = Self.dashboard()
    for letter in "/00".unicodeScalars { _ = dashboard.reduce(.input(.character(letter))) }
    _ = dashboard.reduce(.input(.control("l")))
    dashboard.update()
    #expect(dashboard.list.selection.id == ID(100))
  }

  @Test("While the monitor has not read all operations, the absence of a match is not final")
  func unreadOperationsAreCounted() {
    var dashboard = Self.dashboard()
    dashboard.press("/999")
    #expect(dashboard.text().shows("no match · Enter"))
    var update = Scene.update(of: Self.jobs)
    update.queues = [
      QueueReport(
        id: Scene.cpu, name: "cpu", counts: StateCounts(ready: 2_700, finished: 5, total: 2_705))
    ]
    update.matches = SearchMatches(none: .init(text: "999", start: ID(1)))
    _ = dashboard.reduce(.monitor(.update(update)))
    #expect(dashboard.text().shows("no match yet (2,000 operations are not read yet)"))
    // A match that is read later is selected while the prompt is open, and not afterwards.
    var late = Self.jobs[0]
    late.name = "job 999"
    func find() {
      update.changed = [late]
      update.matches = SearchMatches(.init(text: "999", start: ID(1)), count: 1, position: 0) { _ in
        [ID(1)]
      }
      _ = dashboard.reduce(.monitor(.update(update)))
    }
    find()
    #expect(dashboard.text().shows("1 of 1"))
    dashboard.press("9")
    dashboard.press(.enter)
    #expect(dashboard.list.searchSteps == nil)
  }

  @Test("Finished operations that the monitor keeps do not count as read unfinished operations")
  func finishedOperationsAreNotUnread() {
    let finished = (701...1_500).map { number in
      OperationReport(
        id: ID(number), name: "old \(number)", className: "BlockOperation", queue: Scene.cpu,
        state: .finished, finished: Scene.seconds(2))
    }
    var dashboard = Self.dashboard()
    dashboard.press("/999")
    var update = Scene.update(of: Self.jobs + finished)
    update.queues = [
      QueueReport(
        id: Scene.cpu, name: "cpu",
        counts: StateCounts(ready: 1_000, finished: 900, total: 1_900))
    ]
    update.matches = SearchMatches(none: .init(text: "999", start: ID(1)))
    _ = dashboard.reduce(.monitor(.update(update)))
    #expect(dashboard.text().shows("no match yet (300 operations are not read yet)"))
  }

  @Test("A search in a filtered list says so")
  func aFilteredListIsNamed() {
    var dashboard = Self.dashboard()
    dashboard.press("\\job 6")
    dashboard.press(.enter)
    dashboard.press("/123")
    #expect(dashboard.text().shows("no match in the filtered list"))
  }

  @Test(
    "The search says which process has not answered",
    arguments: [([2], "mailer[4802] has not answered"), ([2, 3], "2 processes have not answered")])
  func unansweredProcessesAreNamed(numbers: [Int], words: String) {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 40)
    func answer(_ ids: [OperationReport.ID]) {
      guard let search = dashboard.connection.interest.search else { return }
      var update = MultiProcessScene.update
      update.matches = SearchMatches(search, count: ids.count, position: 0) { Array(ids[$0]) }
      update.matches?.unanswered = numbers
      update.keptCount = update.queues.reduce(0) { $0 + $1.counts.total }
      _ = dashboard.reduce(.monitor(.update(update)))
    }
    dashboard.press("/z")
    answer([])
    #expect(dashboard.text().shows("find: z_   no match; \(words) · Enter accept"))
    dashboard.press(.enter)
    answer([])
    #expect(dashboard.text().shows("/z: no match; \(words)"))
    #expect(dashboard.press("n") == [.bell])
    #expect(dashboard.text().shows("no match for z; \(words)"))
    answer([MultiProcessScene.id(1, 1042)])
    dashboard.press("n")
    answer([MultiProcessScene.id(1, 1042)])
    #expect(dashboard.text().shows("/z: 1 of 1; \(words)"))
  }

  @Test("Escape in the prompt restores the selection, and a paused display searches its rows")
  func escapeAndPause() {
    var dashboard = Self.dashboard()
    dashboard.press("j/00")
    #expect(dashboard.list.selection.id == ID(100))
    dashboard.press(.escape)
    #expect(dashboard.list.selection.id == ID(2))
    dashboard.press("p/00")
    #expect(dashboard.paused != nil && dashboard.list.selection.id == ID(100))
    #expect(dashboard.text().shows("1 of 5"))
    dashboard.press("000")
    #expect(dashboard.text().shows("no match in the rows shown"))
  }

  @Test("The monitor searches only while the user does")
  func theSearchIsRequestedOnlyWhenNeeded() {
    var dashboard = Self.dashboard()
    #expect(dashboard.connection.interest.search == nil)
    dashboard.press("/")
    #expect(dashboard.connection.interest.search == Interest.Search(text: "", start: ID(1)))
    dashboard.press("5")
    dashboard.press(.enter)
    #expect(dashboard.connection.interest.search == Interest.Search(text: "5", start: ID(1)))
    dashboard.press(.escape)
    #expect(dashboard.connection.interest.search == nil)
  }

  @Test("The search is requested again only if the known matches do not suffice")
  func theSearchIsRequestedAgainOnlyIfNecessary() {
    var dashboard = Self.dashboard()
    dashboard.press("/job")
    dashboard.press(.enter)
    let first = dashboard.connection.interest.search
    #expect(first == Interest.Search(text: "job", start: ID(1)))
    for key in ["j", "k", "n", "N", "jjjj"] {
      dashboard.press(key)
      #expect(dashboard.connection.interest.search == first, "key \(key)")
    }
    // The monitor has reported 32 matches below the first one. The search is requested again before the
    // selection leaves them.
    for _ in 0..<20 { dashboard.press("j") }
    #expect(dashboard.connection.interest.search != first)
    #expect(dashboard.text().shows("/job: 25 of 700"))
    dashboard.press("n")
    #expect(dashboard.text().shows("/job: 26 of 700"))
    #expect(dashboard.list.selection.id == ID(26))
  }

  @Test("After a movement to an operation that does not match, n goes to the next match below it")
  func nextMatchAfterAMovement() {
    var dashboard = Self.dashboard()
    dashboard.press("/00")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == ID(100))
    let first = dashboard.connection.interest.search
    dashboard.press("jjj")
    #expect(dashboard.connection.interest.search == first)
    dashboard.press("n")
    #expect(dashboard.list.selection.id == ID(200))
    dashboard.press("kkN")
    #expect(dashboard.list.selection.id == ID(100))
  }
}
