// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The view of queues")
struct QueueViewTests {
  private static func dashboard(columns: Int = 80, readOnly: Bool = false) -> Dashboard {
    var dashboard = Scene.dashboard(
      columns: columns, configuration: .init(title: "tiles", isReadOnly: readOnly))
    dashboard.press(.tab)
    dashboard.press(.tab)
    return dashboard
  }

  @Test func tabSwitchesThroughTheViewsAndBack() {
    var dashboard = Scene.dashboard()
    var seen: [KeyContext] = []
    for _ in ViewKind.allCases {
      seen.append(dashboard.keyContext)
      dashboard.press(.tab)
    }
    #expect(Set(seen).count == ViewKind.allCases.count)
    #expect(dashboard.keyContext == .list)
    dashboard.press(.backTab)
    #expect(dashboard.screen.view == ViewKind.allCases.last)
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.screen.view == .queues)
    dashboard.press("q")
    #expect(dashboard.keyContext == .list)
  }

  @Test func theSelectionStaysOnItsQueue() {
    var dashboard = Self.dashboard()
    dashboard.press("jj")
    #expect(dashboard.queues.id == Scene.net)
    dashboard.take(
      .monitor(.update(Update(time: Scene.now, queues: Array(Scene.queues.dropFirst(2))))))
    #expect(dashboard.queues.id == Scene.net)
    dashboard.take(.monitor(.update(Update(time: Scene.now, queues: [Scene.queues[0]]))))
    #expect(dashboard.queues.id == nil)
    dashboard.take(.monitor(.update(Update(time: Scene.now))))
    #expect(dashboard.queues.id == nil)
    #expect(dashboard.text().shows("no queues"))
  }

  @Test(
    "If the selected queue disappears, no key acts on a queue until the user selects one",
    arguments: [("j", Scene.net), ("k", Scene.cpu), ("G", Scene.index)])
  func theNeighbourIsNotSelected(key: String, next: QueueReport.ID) {
    var dashboard = Scene.dashboard(configuration: .init(source: .demo, title: "tiles"))
    dashboard.take(.input(.alt("3")))
    dashboard.press("j")
    let others = Scene.queues.filter { $0.id != Scene.io }
    dashboard.take(.monitor(.update(Update(time: Scene.now, queues: others))))
    #expect(dashboard.queues.id == nil)
    #expect(dashboard.text().shows("▌ the selected queue no longer exists"))
    for key in ["S", "+", "-"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.text().shows("no queue is selected"))
    }
    GoldenFrame.checkCells(of: dashboard.picture())
    dashboard.press(key)
    #expect(dashboard.queues.id == next)
    #expect(!dashboard.text().shows("no longer exists"))
    #expect(dashboard.press("+").count == 1)
  }

  @Test func aQueueThatAppearsAfterTheSelectedOneIsNotSelected() {
    var dashboard = Self.dashboard()
    dashboard.take(.monitor(.update(Update(time: Scene.now))))
    dashboard.take(.monitor(.update(Update(time: Scene.now, queues: [Scene.queues[1]]))))
    #expect(dashboard.queues.id == nil)
    dashboard.take(.monitor(.update(Update(time: Scene.now, queues: Scene.queues))))
    #expect(dashboard.queues.id == Scene.cpu)
  }

  @Test func widthAndSuspensionAreThoseOfTheSelectedQueue() {
    var dashboard = Self.dashboard()
    dashboard.press("j")
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 5))])
    #expect(dashboard.press("-") == [.send(.setWidth(Scene.io, 4))])
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.io, true))])
    dashboard.press("jj")
    #expect(dashboard.queues.id == Scene.index)
    #expect(dashboard.press("-") == [.bell])
  }

  @Test func aReadOnlyViewerChangesNoQueue() {
    var dashboard = Self.dashboard(readOnly: true)
    for key in ["+", "-", "S"] { #expect(dashboard.press(key) == [.bell]) }
    #expect(!dashboard.text().shows("Wider"))
  }

  @Test("QV-1: Every count is in the row, and the rows add up", arguments: [120, 200])
  func countsInTheRow(columns: Int) throws {
    let text = Self.dashboard(columns: columns).text()
    for queue in Scene.queues {
      let row = try #require(text.first { $0.dropFirst(2).hasPrefix(queue.name) })
      // The slots are followed by the ready, held, waiting, finished, failed and cancelled operations.
      let words = row.split(separator: " ")
      let slots = try #require(words.firstIndex { $0.contains("/") })
      let numbers = words[(slots + 1)...].prefix(6).compactMap { Int($0) }
      try #require(numbers.count == 6)
      let executing = try #require(Int(words[slots].prefix { $0 != "/" }))
      // Failed operations are also counted as finished.
      #expect(numbers[4] == queue.counts.failed, "\(queue.name)")
      let sum = executing + numbers.reduce(0, +) - numbers[4]
      #expect(sum == queue.counts.total, "\(queue.name)")
    }
  }

  @Test("A narrow screen abbreviates the counts before it leaves out columns")
  func countsOnANarrowScreen() {
    var dashboard = Self.dashboard(columns: 40)
    var queues = Scene.queues
    queues[1].counts = StateCounts(
      waiting: 12_345, ready: 5, executing: 2, finished: 301, cancelled: 5, total: 12_658)
    dashboard.take(.monitor(.update(Update(time: Scene.now, queues: queues))))
    let text = dashboard.text()
    #expect(text.shows("EXEC READY HELD WAIT") && text.shows("net   SUSPENDED"))
    let row = text.first { $0.contains(" io ") }
    #expect(row?.split(separator: " ").suffix(4) == ["2", "5", "0", "12k"])
  }

  @Test("The limit of a queue's starts is beside its name", arguments: [40, 80, 120])
  func startLimit(columns: Int) {
    var dashboard = Self.dashboard(columns: columns)
    var queues = Scene.queues
    let limits = [(5, 1.0, "5/s"), (100, 60, "100/min"), (3, 10, "3/10s")]
    for (index, limit) in limits.enumerated() {
      queues[index].isSuspended = false
      queues[index].startLimit = .init(count: limit.0, periodSeconds: limit.1)
      #expect(queues[index].startLimit?.text == limit.2)
    }
    dashboard.take(.monitor(.update(Update(time: Scene.now, queues: queues))))
    let text = dashboard.text()
    for (queue, limit) in zip(queues, limits) {
      let row = text.first { $0.contains(String(queue.name)) && $0.contains(" \(limit.2)") }
      #expect(row != nil, "\(columns) columns: \(text)")
    }
  }

  @Test func onNarrowScreensTheNameStays() {
    let text = Self.dashboard(columns: 40).text()
    #expect(text.shows("index"))
    #expect(text.shows("EXEC"))
  }
}
