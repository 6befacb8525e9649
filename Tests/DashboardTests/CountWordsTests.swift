// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Counts of one are singular") struct CountWordsTests {
  private typealias ID = OperationReport.ID

  @Test("A number has the singular or the plural of its noun")
  func nouns() {
    let texts = [0, 1, 2, 1_204].map { CountText.text($0, "run") }
    #expect(texts == ["0 runs", "1 run", "2 runs", "1,204 runs"])
  }

  @Test("The prompt of the filter has the number of matches")
  func matches() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\upload")
    let count = dashboard.matchCount
    #expect(count > 1 && dashboard.text().shows("   \(count) operations match "))
    dashboard.take(.input(.control("u")))
    dashboard.press("name:=\"download tiles z=14 eu\"")
    #expect(dashboard.matchCount == 1 && dashboard.text().shows("   1 operation matches "))
  }

  @Test("The timeline has the number of runs that no slot of the queue shows")
  func runs() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.take(.input(.alt("4")))
    let count = SlotAssignment.stripLimit + 1
    for (further, words) in [(0, "1 run not shown"), (1, "2 runs not shown")] {
      var update = Scene.update
      let runs = (1...count + further).map { number in
        OperationRun(
          id: ID(number), title: "r", queue: Scene.io, state: .executing,
          started: Scene.seconds(90))
      }
      update.runs = RecentRuns(runs: runs, count: runs.count)
      dashboard.take(.monitor(.update(update)))
      #expect(dashboard.text().shows("   \(words)"))
    }
  }

  @Test("The events, the line below them and the copied line have the number of missing events")
  func events() {
    for (count, words) in [(1, "1 event not shown"), (7, "7 events not shown")] {
      var dashboard = Scene.dashboard()
      dashboard.take(.input(.alt("5")))
      var update = Scene.update
      update.events = EventNews(events: [], skippedCount: count)
      dashboard.take(.monitor(.update(update)))
      #expect(dashboard.text().shows("─ \(words); current states are exact"))
      #expect(dashboard.text().shows("history incomplete: \(words); current states are exact"))
    }
  }

  @Test("A search names the operations that have not been read yet")
  func unread() {
    for (count, words) in [
      (1, "1 operation is not read yet"), (2, "2 operations are not read yet"),
    ] {
      var dashboard = Scene.dashboard()
      dashboard.press("/zzz")
      var update = Scene.update(of: [])
      update.queues = [
        QueueReport(
          id: Scene.cpu, name: "cpu", counts: StateCounts(ready: count, finished: 0, total: count))
      ]
      update.matches = SearchMatches(none: .init(text: "zzz", start: ID(1)))
      _ = dashboard.reduce(.monitor(.update(update)))
      #expect(dashboard.text().shows("no match yet (\(words))"))
    }
  }

  @Test("A key that removes all tags says from how many operations")
  func tags() {
    var dashboard = Scene.dashboard()
    dashboard.press(" U")
    #expect(dashboard.text().shows("untagged 1 operation") && dashboard.tags.ids.isEmpty)
    dashboard.press("  U")
    #expect(dashboard.text().shows("untagged 2 operations"))
  }

  @Test(
    "The question whether to resume a queue has the number of its held operations",
    arguments: [
      (0, "The queue starts operations again."), (1, "The queue's held operation can start."),
      (2, "The queue's 2 held operations can start."),
    ])
  func heldOperations(count: Int, words: String) {
    var dashboard = PickerScene.attached()
    var update = Scene.update
    for index in update.queues.indices where update.queues[index].id == Scene.net {
      update.queues[index].counts.ready = count
      update.queues[index].counts.held = count
    }
    dashboard.take(.monitor(.update(update)))
    dashboard.take(.input(.alt("3")))
    while dashboard.selectedQueue?.id != Scene.net, dashboard.press("j") == [] {}
    dashboard.press("S")
    #expect(dashboard.text().shows(words))
  }

  @Test("If only unfinished operations are listed, the groups say that there are none")
  func groupsWithoutOperations() {
    var dashboard = ViewScene.dashboard()
    dashboard.press("Hv")
    GroupScene.report(OperationGroups(by: .kind), &dashboard)
    #expect(dashboard.text().shows("no unfinished operations"))
    dashboard.press("vvH")
    dashboard.press("v")
    GroupScene.report(OperationGroups(by: .kind), &dashboard)
    #expect(dashboard.text().shows("  no operations"))
  }
}
