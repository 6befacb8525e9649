// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The column of priorities")
struct PriorityColumnTests {
  private typealias ID = OperationReport.ID

  @Test("The column PRI is shown after two operations have had different priorities")
  func prioritiesAreShownIfTheyDiffer() {
    var dashboard = Dashboard(configuration: .init())
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    var reports = (1...3).map {
      OperationReport(id: ID($0), name: "job", className: "Block", queue: Scene.io, state: .waiting)
    }
    dashboard.update(changed: reports)
    #expect(!dashboard.text().shows("PRI") && !dashboard.text().shows("norm"))
    dashboard.press("sp")
    #expect(dashboard.text().shows("PRI"))
    dashboard.press("ss")
    #expect(!dashboard.text().shows("PRI"))
    reports[1].priority = .high
    dashboard.update(changed: reports)
    #expect(dashboard.text().shows("PRI") && dashboard.text().shows("high"))
    // The column PRI (priority) stays although no operation needs it now, so that the other columns
    // do not move again.
    dashboard.update(removed: [ID(2)])
    #expect(dashboard.text().shows("PRI"))
  }

  @Test("Each changed priority is read once, and none after a difference was found")
  func theComparisonIsCheap() {
    var readCount = 0
    func read(_ priorities: [OperationPriority]) -> some Sequence<OperationPriority> {
      priorities.lazy.map {
        readCount += 1
        return $0
      }
    }
    var comparison = PriorityComparison()
    // An update of 10,000 operations, and 100 updates in which one operation has changed.
    comparison.note(read(Array(repeating: .normal, count: 10_000)))
    for _ in 0..<100 { comparison.note(read([.normal])) }
    #expect(readCount == 10_100 && !comparison.areDifferent)
    comparison.note(read([.normal, .high] + Array(repeating: .normal, count: 10_000)))
    #expect(readCount == 10_102 && comparison.areDifferent)
    comparison.note(read(Array(repeating: .low, count: 10_000)))
    #expect(readCount == 10_102)
  }
}
