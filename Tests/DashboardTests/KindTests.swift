// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Kinds of operations on the screen") struct KindTests {
  private static let id = OperationReport.ID(1080)

  private func dashboard(kind: String?, name: String = "resample landuse") throws -> Dashboard {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    var report = try #require(dashboard.shown.operations[Self.id])
    report.name = name
    report.givenKind = kind
    dashboard.update(changed: [report])
    dashboard.press("1080")
    dashboard.press(.enter)
    return dashboard
  }

  @Test("The pane and the detail have the class, or the kind with the class after it")
  func facts() throws {
    for opensDetail in [false, true] {
      var plain = try dashboard(kind: nil)
      var kind = try dashboard(kind: "resample")
      if opensDetail {
        plain.press(.enter)
        kind.press(.enter)
      }
      let lines = kind.text().filter { $0.contains("resample BlockOperation") }
      #expect(lines.count == 1 && lines[0].contains("kind"), "\(opensDetail)")
      #expect(plain.text().shows("BlockOperation") && !plain.text().shows("kind "))
    }
  }

  @Test("An operation without a name is shown by its kind, in the list, the tree and the detail")
  func titles() throws {
    var dashboard = try dashboard(kind: "resample \u{1B}[2J", name: "")
    #expect(dashboard.text().shows("(resample ") && !dashboard.text().shows("(BlockOperation)"))
    for keys in ["d", "t"] {
      dashboard.press(keys)
      #expect(dashboard.text().shows("(resample "), "\(keys)")
      #expect(!dashboard.text().contains { $0.unicodeScalars.contains("\u{1B}") })
    }
  }

  @Test("The usual times are those of the kind")
  func times() throws {
    var dashboard = try dashboard(kind: "resample")
    var update = FakeMonitor(Scene.operations).update(
      for: Interest(), queues: Scene.queues, changed: [], removed: [], at: Scene.now)
    func times(_ seconds: Int) -> TimeStatistics {
      let time = Duration.seconds(seconds)
      return TimeStatistics(run: Percentiles(count: 20, p50: time, p90: time, p99: time))
    }
    update.kindTimes = ["resample": times(3), "BlockOperation": times(7)]
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("p50 3.00s p99 3.00s (n=20)"))
    dashboard.press(.enter)
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("p50 3.00s  p90 3.00s  p99 3.00s  resample (n=20)"))
  }

  @Test("Similar siblings of a tree have the same kind, and not only the same class")
  func groups() {
    let reports = (1...20).map { number in
      var report = OperationReport(
        id: .init(number), name: "job \(number)", className: "Job", queue: .init(1),
        state: .waiting, dependentCount: 1)
      report.givenKind = number <= 10 ? "read" : "hash"
      return report
    }
    let root = OperationReport(
      id: .init(100), name: "all", className: "Job", queue: .init(1), state: .waiting,
      dependencies: reports.map(\.id), unmetDependencyCount: 20)
    var store = OperationStore()
    store.apply(changed: reports + [root], removed: [])
    let tree = DependencyTree(
      root: root.id, direction: .waitsFor, graph: OperationGraph(store), rowLimit: 100)
    let counts = tree.rows.compactMap { row in
      if case .group(let count, _, _) = row.note { count } else { nil }
    }
    #expect(counts.count == 2 && counts.allSatisfy { $0 <= 10 })
  }
}
