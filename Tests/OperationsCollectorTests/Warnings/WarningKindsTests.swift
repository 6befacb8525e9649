// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCollector

/// Tests of the kinds of warnings that viewers request.
@Suite struct WarningKindsTests {
  private let table = CollectorTable()
  private let viewers = [SessionID(rawValue: 1), SessionID(rawValue: 2)]
  private let now = MonitorTime.now

  private func want(_ kinds: Set<MonitorWarning.Kind>, of viewer: Int = 0) {
    var interest = Interest()
    interest.warningKinds = kinds
    table.keepList(for: viewers[viewer], interest, at: now)
  }

  @Test func theWarningKindsOfAllViewersAreCombined() {
    #expect(table.warningKinds == [])
    want([.cycle, .slow])
    want([.fanOut], of: 1)
    #expect(table.warningKinds == [.cycle, .slow, .fanOut])
    want([])
    #expect(table.warningKinds == [.fanOut])
    table.keepLists(of: [])
    #expect(table.warningKinds == [])
  }

  @Test func eachViewerReceivesTheWarningsThatItRequests() throws {
    _ = table.deadlockWatch.take(
      [MonitorWarning(kind: .cycle, operations: [.init(1), .init(2)])], cost: .zero, at: now)
    want([.cycle])
    want([.slow], of: 1)
    let updates = try viewers.map {
      try #require(table.lists[$0]).takeUpdate(from: table)
    }
    #expect(updates.map { $0.warnings.map(\.kind) } == [[.cycle], []])
  }

  @Test func deadlocksAreSearchedOnlyOnRequest() {
    want([.slow])
    table.deadlockWatch.noteChange(at: now)
    #expect(table.nextDeadlockSearch == nil)
    let hasSearched = table.searchDeadlocksIfDue(at: now + .seconds(60))
    #expect(!hasSearched)
    want([.neverEnqueuedDependency], of: 1)
    #expect(table.nextDeadlockSearch == now + .seconds(1))
  }
}
