// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Dependency tree")
struct DependencyTreeTests {
  private typealias ID = OperationReport.ID

  private static func store(
    _ edges: [Int: [Int]], states: [Int: OperationState] = [:]
  ) -> OperationStore {
    var store = OperationStore()
    let ids = Set(edges.keys).union(edges.values.joined())
    store.apply(
      changed: ids.sorted().map { id in
        let needs = edges[id] ?? []
        return OperationReport(
          id: ID(id), name: "operation \(id)", className: "Block", queue: Scene.cpu,
          state: states[id] ?? .waiting, dependencies: needs.map { ID($0) },
          unmetDependencyCount: needs.count { states[$0]?.isOver != true })
      }, removed: [])
    return store
  }

  private func rows(
    of root: Int, _ direction: GraphDirection, in store: OperationStore,
    limit: Int = 1_000
  ) -> [DependencyTree.RowID] {
    DependencyTree(
      root: ID(root), direction: direction, graph: OperationGraph(store), rowLimit: limit
    )
    .rows.map(\.id)
  }

  @Test func everyOperationHasOneRowAndFurtherPathsAreReferences() {
    let store = Self.store([1: [2, 3], 2: [4], 3: [4]])
    #expect(
      rows(of: 1, .waitsFor, in: store)
        == [
          .node(ID(1)), .node(ID(2)), .node(ID(4)), .node(ID(3)), .reference(ID(4), parent: ID(3)),
        ])
    #expect(
      rows(of: 4, .blocks, in: store)
        == [
          .node(ID(4)), .node(ID(2)), .node(ID(1)), .node(ID(3)), .reference(ID(1), parent: ID(3)),
        ])
  }

  @Test("Every node and every edge is drawn once, in any graph", arguments: 0..<20)
  func everyEdgeIsDrawnOnce(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var edges: [Int: [Int]] = [:]
    for id in 2...40 {
      let count = Int.random(in: 1...3, using: &random)
      // An operation may depend on operations with higher and with lower ids, so that there are
      // cycles.
      edges[id - 1] = Array(
        Set((0..<count).map { _ in Int.random(in: 1...40, using: &random) } + [id])
      ).sorted()
    }
    let drawn = rows(of: 1, .waitsFor, in: Self.store(edges))
    let nodes = drawn.filter { if case .node = $0 { true } else { false } }
    #expect(nodes.count == 40)
    #expect(Set(drawn).count == drawn.count)
    #expect(drawn.count == edges.values.reduce(0) { $0 + $1.count } + 1)
  }

  @Test func aCycleIsMarkedAtItsLastRow() throws {
    let store = Self.store([1: [2], 2: [1]])
    let tree = DependencyTree(
      root: ID(1), direction: .waitsFor, graph: OperationGraph(store), rowLimit: 10)
    let last = try #require(tree.rows.last)
    #expect(last.id == .reference(ID(1), parent: ID(2)))
    #expect(last.note == .closesCycle)
  }

  @Test func moreThanEightSimilarOperationsShareARow() {
    #expect(rows(of: 1, .waitsFor, in: Self.store([1: Array(2...9)])).count == 9)
    let store = Self.store([1: Array(2...10)])
    let tree = DependencyTree(
      root: ID(1), direction: .waitsFor, graph: OperationGraph(store), rowLimit: 99)
    #expect(tree.rows.count == 2)
    #expect(tree.rows[1].note == .group(count: 9, first: ID(2), last: ID(10)))
    let group = DependencyTree.Group(parent: ID(1), state: .waiting, kind: "Block")
    let unfolded = DependencyTree(
      root: ID(1), direction: .waitsFor, graph: OperationGraph(store),
      folding: DependencyTree.Folding(unfolded: [group]), rowLimit: 99)
    #expect(unfolded.rows.count == 10)
  }

  @Test func dependenciesAreSortedByTheirStates() {
    let store = Self.store(
      [1: [2, 3, 4, 5, 6]],
      states: [2: .finished, 3: .waiting, 4: .held, 5: .ready, 6: .executing])
    #expect(
      rows(of: 1, .waitsFor, in: store)
        == [1, 6, 5, 4, 3, 2].map { .node(ID($0)) })
  }

  @Test func dependenciesThatAreNoLongerKeptAreCounted() {
    var store = Self.store([1: [2, 3]], states: [2: .finished])
    store.apply(changed: [], removed: [ID(2)])
    let tree = DependencyTree(
      root: ID(1), direction: .waitsFor, graph: OperationGraph(store), rowLimit: 9)
    #expect(tree.rows.last?.id == .unknown(parent: ID(1)))
    #expect(tree.rows.last?.note == .unknown(count: 1, unmetCount: 0))
  }

  @Test("If a known dependency of an executing operation is unfinished, the others may be too")
  func dependenciesOfExecutingOperation() {
    for (state, unmetCount) in [(OperationState.waiting, nil), (.finished, 0)] as [(_, Int?)] {
      var store = Self.store([1: [2, 3]], states: [1: .executing, 2: state])
      store.apply(changed: [], removed: [ID(3)])
      let tree = DependencyTree(
        root: ID(1), direction: .waitsFor, graph: OperationGraph(store), rowLimit: 9)
      #expect(tree.rows.last?.note == .unknown(count: 1, unmetCount: unmetCount))
    }
  }

  @Test("The row of dependents without details has no number of unfinished dependents")
  func dependentsWithoutDetails() {
    var store = Self.store([2: [1]])
    var report = store[ID(1)]
    report?.dependentCount = 300
    store.apply(changed: [report].compactMap { $0 }, removed: [])
    let tree = DependencyTree(
      root: ID(1), direction: .blocks, graph: OperationGraph(store), rowLimit: 9)
    #expect(tree.rows.last?.note == .unknown(count: 299, unmetCount: nil))
  }

  @Test func aChainOfAnyLengthIsDrawnAndCut() {
    let edges = Dictionary(uniqueKeysWithValues: (1..<20_000).map { ($0, [$0 + 1]) })
    let rows = rows(of: 1, .waitsFor, in: Self.store(edges), limit: TreeState.rowLimit)
    #expect(rows.count == TreeState.rowLimit)
    #expect(rows.last == .cut)
  }

  @Test func dependentsAreUpdatedWithTheirOperations() {
    var store = Self.store([2: [1], 3: [1], 4: [1]])
    #expect(store.dependents(of: ID(1)) == [ID(2), ID(3), ID(4)])
    store.apply(changed: [], removed: [ID(3)])
    #expect(store.dependents(of: ID(1)) == [ID(2), ID(4)])
    store.apply(changed: [], removed: [ID(2)])
    #expect(store.dependents(of: ID(1)) == [ID(4)])
    store.apply(
      changed: [
        OperationReport(
          id: ID(4), name: "", className: "Block", queue: Scene.cpu, state: .ready)
      ], removed: [])
    #expect(store.dependents(of: ID(1)) == [])
  }

  @Test func rMakesTheRowTheRootAndTheSelection() {
    var dashboard = Scene.dashboard()
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("dj")
    #expect(dashboard.selected == ID(1181))
    dashboard.press("r")
    #expect(dashboard.tree?.tree.root == ID(1181))
    dashboard.press(.escape)
    #expect(dashboard.list.selection.id == ID(1181))
  }

  @Test func enterOnAReferenceSelectsTheReferencedRow() throws {
    var dashboard = Scene.dashboard(columns: 80, rows: 60)
    dashboard.press("1190")
    dashboard.press(.enter)
    dashboard.press("d")
    let rows = try #require(dashboard.tree?.tree.rows)
    let index = try #require(
      rows.firstIndex { if case .reference = $0.id { true } else { false } })
    for _ in 0..<index { dashboard.press("j") }
    guard case .reference(let id, _) = rows[index].id else { return }
    dashboard.press(.enter)
    #expect(dashboard.tree?.cursor == .node(id))
    #expect(dashboard.tree?.tree.root == ID(1190))
  }

  @Test func theCursorStaysAtItsRowWhileTheTreeChanges() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("1180")
    dashboard.press(.enter)
    dashboard.press("d")
    dashboard.press("jjj")
    let cursor = try #require(dashboard.tree?.cursor)
    var report = try #require(dashboard.live.operations[ID(1042)])
    report.state = .finished
    report.finished = dashboard.now
    dashboard.update(changed: [report])
    #expect(dashboard.tree?.cursor == cursor)
  }

  @Test(arguments: [
    ("upload shard 14", "upload shard 31", "upload shard 14 … 31"),
    ("a", "b", "a … b"), ("same", "same", "same"), ("", "x", " … x"),
  ])
  func rangesOfNamesDoNotRepeatThemselves(first: String, last: String, text: String) {
    #expect(NameRange.text(from: first, to: last, ellipsis: "…") == text)
  }
}
