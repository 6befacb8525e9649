// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Copying the selected line") struct CopyTests {
  private typealias ID = OperationReport.ID

  private func copied(_ effects: [Effect]) -> String? {
    guard case .copy(let text) = effects.first, effects.count == 1 else { return nil }
    return text
  }

  @Test("CP-1: y copies the selected operation: id, state, queue, time and name")
  func operation() {
    var dashboard = Scene.dashboard(columns: 200, rows: 60)
    #expect(
      copied(dashboard.press("y")) == "#1042  executing  io  12.4s  download tiles z=14 eu")
    #expect(
      dashboard.text().shows(
        "sent to the terminal's clipboard: #1042  executing  io  12.4s  download tiles z=14 eu"))
    // An operation without a name has its kind.
    dashboard.press("/IndexWriter")
    dashboard.press(.enter)
    _ = dashboard.select(ID(1095))
    #expect(copied(dashboard.press("y")) == "#1095  executing  index  904ms  IndexWriter")
    dashboard.press("d")
    #expect(copied(dashboard.press("y"))?.hasPrefix("#1095  executing") == true)
  }

  @Test("CP-1: The whole name is copied, also if the row shows a part of it")
  func wholeName() {
    let name = String(repeating: "resample 漢字 ", count: 30)
    var dashboard = Scene.dashboard(columns: 40, rows: 10)
    var report = Scene.operations[0]
    report.name = name
    dashboard.update(changed: [report])
    dashboard.press("g")
    #expect(dashboard.list.selection.id == report.id)
    #expect(copied(dashboard.press("y"))?.hasSuffix(name) == true)
  }

  @Test("WN-2: A name of megabytes is cut before it is copied")
  func hugeName() {
    var dashboard = Scene.dashboard()
    var report = Scene.operations[0]
    report.name = String(repeating: "n", count: 8 << 20)
    dashboard.update(changed: [report])
    dashboard.press("g")
    let text = copied(dashboard.press("y")) ?? ""
    #expect((50_000...100_000).contains(text.utf8.count))
  }

  @Test("CP-1: y copies the selected row of the tree")
  func tree() {
    var dashboard = Scene.dashboard()
    dashboard.press("t")
    dashboard.press("g")
    for _ in 0..<12 {
      let text = copied(dashboard.press("y")) ?? ""
      if let id = dashboard.tree?.selectedOperation {
        #expect(text.hasPrefix("\(id)  "), "\(text)")
      } else {
        #expect(!text.isEmpty)
      }
      dashboard.press("j")
    }
  }

  @Test("CP-1: y copies the counts of the selected queue")
  func queue() {
    var dashboard = Scene.dashboard()
    dashboard.press(.tab)
    dashboard.press(.tab)
    dashboard.press("gjj")
    #expect(
      copied(dashboard.press("y")) == """
        net  width 6  suspended  0 executing  0 ready  12 held  30 waiting  0 failed  9 finished  \
        0 cancelled
        """)
  }

  @Test("CP-1: y copies the whole name and the counts of the selected group")
  func group() {
    let name = String(repeating: "Resample 漢字 ", count: 40)
    for (columns, rows) in [(40, 10), (80, 24), (200, 60)] {
      var dashboard = ViewScene.dashboard(columns: columns, rows: rows)
      dashboard.press("v")
      var update = ViewScene.update
      update.groups?.groups = ViewScene.groups(by: .kind).groups.prefix(1).map { group in
        OperationGroups.Group(
          key: .kind(name), counts: group.counts, endedCount: group.endedCount, times: group.times,
          runBuckets: group.runBuckets)
      }
      dashboard.take(.monitor(.update(update)))
      let text = copied(dashboard.press("y")) ?? ""
      #expect(text.hasPrefix("\(name)  2 executing"), "\(columns)")
      #expect(text.hasSuffix("run p50 31ms p99 1.20s") || text.contains("  run p50 31"), "\(text)")
    }
  }

  @Test("CP-1: y copies the operation that is selected on the screen of a queue")
  func queueScreen() {
    var dashboard = ViewScene.dashboard()
    dashboard.take(.input(.alt("3")))
    dashboard.press("g")
    dashboard.press(.enter)
    dashboard.press("g")
    #expect(copied(dashboard.press("y"))?.hasPrefix("#1077  cancelling  cpu") == true)
  }

  @Test("CP-1: y copies the whole kind of a group of similar operations in a tree")
  func groupInTree() {
    let kind = String(repeating: "Kind 漢字 ", count: 30)
    let parts = (2...13).map { ID($0) }
    var dashboard = Dashboard(configuration: .init())
    dashboard.take(.resized(Size(columns: 60, rows: 24)))
    let root = OperationReport(
      id: ID(1), name: "root", className: "Root", queue: Scene.cpu, state: .waiting,
      dependencies: parts)
    dashboard.update(
      changed: [root]
        + parts.map {
          OperationReport(
            id: $0, name: "part", className: kind, queue: Scene.cpu, state: .executing)
        })
    dashboard.press("1")
    dashboard.press(.enter)
    dashboard.press("dj")
    #expect(copied(dashboard.press("y")) == "12 executing  \(kind)  #2 to #13")
  }

  @Test("CP-1: y copies the selected run and the selected event")
  func history() {
    var dashboard = Scene.dashboard()
    for _ in 0..<3 { dashboard.press(.tab) }
    HistoryScene.report(&dashboard)
    while dashboard.timeline.run?.id != ID(1051), dashboard.press("j") == [] {}
    #expect(
      copied(dashboard.press("y")) == "#1051  executing  io  8.02s  download tiles z=14 us")
    dashboard.press(.tab)
    HistoryScene.report(&dashboard)
    #expect(
      copied(dashboard.press("y")) == "12:04:30.096  #1095  executing  index  漢字 index")
    dashboard.press("k")
    #expect(copied(dashboard.press("y"))?.contains("cancelling → cancelled  io") == true)
  }

  @Test("CP-1: y copies the selected warning as a sentence")
  func warning() {
    var dashboard = Scene.dashboard()
    var update = Scene.update
    update.warnings = [MonitorWarning(kind: .fanOut, operations: [ID(1042)], count: 20_001)]
    dashboard.take(.monitor(.update(update)))
    dashboard.press("!")
    #expect(copied(dashboard.press("y"))?.hasPrefix("fan-out  20,001 operations depend on") == true)
  }

  @Test("CP-1: On the log screen, y copies the line with the match or the last line on the screen")
  func log() {
    var dashboard = LogScene.dashboard()
    dashboard.press("L")
    #expect(dashboard.press("y") == [.bell])
    LogScene.report(LogScene.log(0..<50), to: &dashboard)
    #expect(
      copied(dashboard.press("y"))
        == "12:04:23.900  \(LogScene.line(49).level.rawValue)  \(LogScene.line(49).text)")
    dashboard.press("/MIRROR")
    dashboard.press(.enter)
    let match = dashboard.detail?.log?.match.map { Int($0) } ?? 0
    #expect(LogScene.line(match).text.contains("mirror"))
    #expect(copied(dashboard.press("y"))?.hasSuffix(LogScene.line(match).text) == true)
  }

  @Test("CP-1: Without a selected line, y sounds the bell")
  func nothingSelected() {
    var dashboard = Dashboard(configuration: .init())
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    #expect(dashboard.press("y") == [.bell])
    #expect(dashboard.text().shows("no line is selected"))
  }
}
