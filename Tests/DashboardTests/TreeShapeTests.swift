// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The place of shared dependencies in the tree, and folding")
struct TreeShapeTests {
  private typealias ID = OperationReport.ID

  /// Returns a store of operations with these dependencies. Operations in `over` have finished, and
  /// all other operations wait.
  private static func store(
    _ dependencies: [Int: [Int]], over: Set<Int> = []
  ) -> OperationStore {
    var store = OperationStore()
    let ids = Set(dependencies.keys).union(dependencies.values.joined())
    store.apply(
      changed: ids.sorted().map { id in
        OperationReport(
          id: ID(id), name: "\(id)", className: "Block", queue: Scene.cpu,
          state: over.contains(id) ? .finished : .waiting,
          dependencies: (dependencies[id] ?? []).map { ID($0) })
      }, removed: [])
    return store
  }

  private func tree(
    _ store: OperationStore, folding: DependencyTree.Folding = .init(),
    owners: [ID: ID] = [:]
  ) -> DependencyTree {
    DependencyTree(
      root: ID(1), direction: .waitsFor, graph: OperationGraph(store), folding: folding,
      owners: owners,
      rowLimit: 100)
  }

  // In this graph, operation 1 depends on 2 and 3, operation 3 on 4, operation 4 on 2, and
  // operation 2 on 5. The longest path from operation 1 to operation 2 is through operation 4.
  private static let shared = [1: [2, 3], 3: [4], 4: [2], 2: [5]]

  @Test func aSharedOperationIsDrawnOnItsLongestPath() {
    let tree = tree(Self.store(Self.shared))
    #expect(
      tree.rows.map(\.id) == [
        .node(ID(1)), .node(ID(3)), .node(ID(4)), .node(ID(2)), .node(ID(5)),
        .reference(ID(2), parent: ID(1)),
      ])
  }

  @Test func theCriticalPathIsTheLongestPathAndDrawnFirst() {
    let tree = tree(Self.store(Self.shared))
    #expect(tree.criticalPath == [ID(1), ID(3), ID(4), ID(2), ID(5)])
    #expect(tree.rows.filter(\.isCritical).map(\.id) == tree.criticalPath.map { .node($0) })
  }

  @Test func finishedOperationsAreNotOnTheCriticalPath() {
    let tree = tree(Self.store([1: [2, 3], 2: [4], 4: [5], 3: [6]], over: [2, 4, 5]))
    #expect(tree.criticalPath == [ID(1), ID(3), ID(6)])
  }

  @Test func aRowStaysBelowItsParentWhenALongerPathAppears() {
    let before = tree(Self.store([1: [2, 3], 3: [4], 2: [4], 4: [5]]))
    let owner = before.owners[ID(4)]
    #expect(owner == ID(2))
    // A new path from operation 1 to operation 3 is longer than the old one, but is not a part of
    // the critical path. Therefore operation 4 stays below operation 2.
    let after = tree(
      Self.store([
        1: [2, 3, 7], 3: [4], 2: [4], 4: [5], 7: [8], 8: [9], 9: [3, 10], 10: [11], 11: [12],
        12: [13],
      ]),
      owners: before.owners)
    #expect(after.owners[ID(4)] == ID(2))
    #expect(after.criticalPath.contains(ID(12)))
  }

  @Test func theCriticalPathOverridesEarlierParents() {
    let before = tree(Self.store([1: [2, 3], 2: [4], 3: [4], 4: [5]]))
    #expect(before.owners[ID(4)] == ID(2))
    let after = tree(
      Self.store([1: [2, 3], 2: [4], 3: [6], 6: [4], 4: [5]]), owners: before.owners)
    #expect(after.owners[ID(4)] == ID(6))
  }

  @Test("Every operation is drawn once, in any graph", arguments: 0..<40)
  func everyOperationIsDrawnOnce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // The random graphs may contain cycles.
    let count = Int.random(in: 1...30, using: &random)
    var edges: [Int: [Int]] = [1: []]
    for id in 1...count {
      let targets = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        Int.random(in: 1...count, using: &random)
      }
      edges[id] = Array(Set(targets)).sorted()
    }
    let tree = tree(Self.store(edges))
    var reachable: Set = [1]
    var pending = [1]
    while let id = pending.popLast() {
      for next in edges[id] ?? [] where reachable.insert(next).inserted { pending.append(next) }
    }
    var drawn: [ID] = []
    for row in tree.rows { if case .node(let id) = row.id { drawn.append(id) } }
    #expect(drawn.count == Set(drawn).count, "seed \(seed)")
    #expect(Set(drawn) == Set(reachable.map { ID($0) }), "seed \(seed)")
  }

  @Test("A row counts dependencies even if the dashboard knows only their ids")
  func dependenciesWithoutDetailsAreCounted() {
    var dashboard = Scene.dashboard()
    dashboard.update(changed: [
      OperationReport(
        id: ID(1), name: "whole", className: "Block", queue: Scene.cpu, state: .waiting,
        dependencies: (5_000..<6_500).map { ID($0) }, unmetDependencyCount: 1_200)
    ])
    dashboard.press("1")
    dashboard.press(.enter)
    dashboard.press("d")
    #expect(dashboard.text().shows("+ 1,500 without details, 1,200 unfinished"))
    dashboard.take(.resized(Size(columns: 100, rows: 24)))
    #expect(dashboard.text().shows("+ 1,500 without details, 1,200 of them unfinished"))
  }

  @Test(
    "The row of dependencies without details does not say that those of a cancelled operation have finished"
  )
  func statesWithoutDetails() {
    for state in OperationState.allCases {
      var dashboard = Scene.dashboard()
      dashboard.update(changed: [
        OperationReport(
          id: ID(1), name: "whole", className: "Block", queue: Scene.cpu, state: state,
          dependencies: [ID(5_000), ID(5_001)], unmetDependencyCount: state == .waiting ? 1 : 0)
      ])
      dashboard.press("1")
      dashboard.press(.enter)
      dashboard.press("d")
      let words =
        switch state {
        case .waiting: "+ 2 without details, 1 of them unfinished"
        case .cancelling, .cancelled: "+ 2 without details"
        case .ready, .held, .executing, .finished, .failed:
          "+ 2 finished, details no longer stored"
        }
      #expect(dashboard.text().contains { $0.hasSuffix(words) }, "\(state): \(dashboard.text())")
    }
  }

  // MARK: Folding

  @Test func foldedRowsAreCountedAtTheirOperation() {
    let tree = tree(Self.store([1: [2], 2: [3, 4]]), folding: .init(folded: [ID(2)]))
    #expect(tree.rows.map(\.id) == [.node(ID(1)), .node(ID(2)), .folded(ID(2))])
    #expect(tree.rows.last?.note == .folded(count: 2, attemptCount: 0))
  }

  @Test func leftFoldsAndSelectsTheParentAndRightReverses() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("dj")
    #expect(dashboard.selected == ID(1181))
    let count = dashboard.tree?.tree.rows.count ?? 0
    dashboard.press(.left)
    #expect((dashboard.tree?.tree.rows.count ?? 0) < count)
    #expect(dashboard.selected == ID(1181))
    dashboard.press("h")
    #expect(dashboard.selected == ID(1200))
    dashboard.press("ll")
    #expect(dashboard.selected == ID(1181))
    #expect(dashboard.tree?.tree.rows.count == count)
    dashboard.press("l")
    #expect(dashboard.selected == ID(1180))
  }

  @Test func everythingCanBeFoldedAndUnfolded() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d")
    let count = dashboard.tree?.tree.rows.count
    dashboard.press("*")
    #expect(dashboard.tree?.tree.rows.allSatisfy { $0.depth <= 2 } == true)
    dashboard.press("*")
    #expect(dashboard.tree?.tree.rows.count == count)
  }

  // MARK: Blockers

  @Test func bSelectsTheBlockersStepByStep() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("1181")
    dashboard.press(.enter)
    dashboard.press("b")
    #expect(dashboard.list.selection.id == ID(1180))
    dashboard.press("b")
    #expect(dashboard.list.selection.id == ID(1101))
    dashboard.press("b")
    #expect(dashboard.list.selection.id == ID(1077))
    #expect(dashboard.press("b") == [.bell])
    #expect(dashboard.text().shows("#1077 was cancelled; nothing is known to hold it up"))
  }

  @Test func capitalBSelectsTheBiggestBlocker() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("B")
    // Operation #1101 blocks the most operations: its dependents are 18 uploads, the merge of all
    // parts and the verification.
    #expect(dashboard.list.selection.id == ID(1101))
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("dB")
    #expect(dashboard.selected == ID(1101))
  }
}
