// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Large trees, and the work to create them")
struct TreeWorkTests {
  private typealias ID = OperationReport.ID

  @Test("The number of operations below counts each unfinished operation once", arguments: 0..<20)
  func operationsBelowAreCounted(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // The random graphs may contain cycles.
    let count = Int.random(in: 1...90, using: &random)
    var edges: [Int: [Int]] = [:]
    var states: [Int: OperationState] = [:]
    for id in 1...count {
      let targets = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        Int.random(in: 1...count, using: &random)
      }
      edges[id] = Array(Set(targets)).sorted()
      if Int.random(in: 0..<4, using: &random) == 0 { states[id] = .finished }
    }
    let store = OperationStore.make(edges, states: states)
    let ids = (1...count).map { ID($0) }
    let counts = DescendantCounts(below: ids, .waitsFor, in: OperationGraph(store), limit: 1_000)
    for id in 1...count where states[id] == nil {
      var found: Set<Int> = []
      var pending = [id]
      while let next = pending.popLast() {
        for target in edges[next] ?? [] where states[target] == nil {
          if found.insert(target).inserted { pending.append(target) }
        }
      }
      #expect(counts[ID(id)] == found.subtracting([id]).count, "seed \(seed), operation \(id)")
    }
  }

  @Test("The count visits each edge twice, even in a long chain and in a long cycle")
  func countingVisitsEachEdgeTwice() {
    let count = 1_000
    // Operation 0 depends on all operations of a chain, in which each operation depends on the previous one.
    var edges = Dictionary(uniqueKeysWithValues: (2...count).map { ($0, [$0 - 1]) })
    edges[0] = Array(1...count)
    for isCycle in [false, true] {
      if isCycle { edges[1] = [count] }
      let counts = DescendantCounts(
        below: [ID(0)], .waitsFor, in: OperationGraph(OperationStore.make(edges)), limit: 2_000)
      #expect(counts[ID(0)] == count)
      #expect(counts[ID(500)] == (isCycle ? count - 1 : 499))
      #expect(counts.stepCount == 2 * edges.values.reduce(0) { $0 + $1.count })
    }
  }

  @Test("The search for roots comes to each operation of a chain with an unknown end once")
  func aLongChainIsWalkedOnce() {
    let count = 1_000
    var reports = (1...count).map { id in
      OperationReport(
        id: ID(id), name: "", className: "Block", queue: Scene.io, state: .waiting,
        dependencies: id == 1 ? [] : [ID(id - 1)], dependentCount: 1)
    }
    for isReversed in [false, true] {
      // In reverse, the operation with the lowest number is at the end of the chain.
      if isReversed {
        reports = reports.map { report in
          OperationReport(
            id: report.id, name: "", className: "Block", queue: Scene.io, state: .waiting,
            dependencies: report.id == ID(count) ? [] : [ID(report.id.rawValue + 1)],
            dependentCount: 1)
        }
      }
      var store = OperationStore()
      store.apply(changed: reports, removed: [])
      var search = RootSearch(OperationGraph(store))
      search.findRoots(for: TreeFocus())
      #expect(search.roots == [])
      #expect(search.walkedCount == count)
      // The selected operation is below the end of the chain, which is a root.
      let focus = TreeFocus(
        opened: ID(500), selected: ID(500), matches: nil, .waitsFor, in: OperationGraph(store))
      search = RootSearch(OperationGraph(store))
      search.findRoots(for: focus)
      #expect(search.roots == [ID(isReversed ? 1 : count)])
      #expect(search.walkedCount <= count)
    }
  }

  @Test("If all operations depend on all earlier ones, each set of operations is added once")
  func countingAddsEachSetOnce() {
    let count = 300
    let edges = Dictionary(uniqueKeysWithValues: (1...count).map { ($0, Array(1..<$0)) })
    let counts = DescendantCounts(
      below: [ID(count)], .waitsFor, in: OperationGraph(OperationStore.make(edges)), limit: 2_000)
    #expect(counts[ID(count)] == count - 1)
    #expect(counts.unionCount == count - 1)
  }

  @Test(
    "The work for the largest tree is proportional to the number of operations and dependencies",
    arguments: [GraphDirection.waitsFor, .blocks])
  func theWorkForTheLargestTreeIsLimited(direction: GraphDirection) throws {
    // The dashboard knows the rows of the list, the roots with their dependencies, and the operations around
    // the selected one.
    let count = ListRows.limit + 2 * TreeState.rowLimit
    var edges: [Int: [Int]] = [:]
    for id in 1...count { edges[id] = (1...12).map { id - $0 * $0 }.filter { $0 > 0 } }
    let edgeCount = edges.values.reduce(0) { $0 + $1.count }
    let store = OperationStore.make(edges)
    let graph = OperationGraph(store)
    let matches = Set((1...count).lazy.filter { $0.isMultiple(of: 3) }.map { ID($0) })
    let filter = try OperationFilter("class:Block")
    for isFiltered in [false, true] {
      var tree =
        direction == .waitsFor
        ? TreeState(allOf: graph, opened: ID(count / 2))
        : TreeState(root: ID(1), direction: .blocks, graph: graph)
      let contents = TreeState.Contents(
        graph: graph, filter: isFiltered ? filter : nil,
        matches: isFiltered ? matches : nil)
      for _ in 0..<2 {
        tree.settle(with: contents, height: 40)
        #expect(tree.tree.rows.count > 1_000)
        #expect(tree.stepCount > edgeCount / 2)
        #expect(tree.stepCount <= 8 * (count + edgeCount))
      }
    }
  }

  @Test(
    "The tree has the selected row even if the rows above it exceed the limit",
    arguments: ["many roots", "a root with many dependencies", "a long chain"])
  func aLargeTreeHasTheSelectedRow(shape: String) throws {
    let count = TreeState.rowLimit + 500
    let above = 10 + count
    let many = Array(10..<above)
    // The operation `above` depends on operation 1, and operation 1 depends on operation 2.
    var edges = [above: [1], 1: [2]]
    for id in many { edges[id] = shape == "a long chain" ? [id + 1] : [] }
    if shape == "a root with many dependencies" { edges[5] = many + [above] }
    let store = OperationStore.make(edges, hasClasses: true)
    var tree = TreeState(allOf: OperationGraph(store), opened: ID(1))
    for _ in 0..<2 {
      tree.settle(with: .init(graph: OperationGraph(store)), height: 20)
      #expect(tree.cursor == .node(ID(1)) && !tree.isGhost)
      #expect(tree.tree.rows.count { $0.id == .cut } == 1)
      // The rows of the operation above it and of its dependency are next to it.
      let index = try #require(tree.tree.rows.firstIndex { $0.id == .node(ID(1)) })
      try #require(tree.tree.rows.indices.contains(index + 1))
      let near = tree.tree.rows[index - 1...index + 1]
      #expect(near.map(\.id) == [above, 1, 2].map { .node(ID($0)) })
      #expect(near.map { $0.depth - tree.tree.rows[index].depth } == [-1, 0, 1])
    }
    tree.move(by: 1, height: 20)
    tree.settle(with: .init(graph: OperationGraph(store)), height: 20)
    #expect(tree.cursor == .node(ID(2)) && !tree.isGhost)
  }

  @Test("Beside a tree, the pane examines only the direction that the tree does not show")
  func thePaneExaminesOneDirection() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    #expect(dashboard.screen.pane?.waitsFor != nil && dashboard.screen.pane?.blocks != nil)
    dashboard.press("t")
    #expect(dashboard.screen.pane?.waitsFor == nil && dashboard.screen.pane?.blocks != nil)
    dashboard.press("D")
    #expect(dashboard.screen.pane?.waitsFor != nil && dashboard.screen.pane?.blocks == nil)
    dashboard.press(.enter)
    #expect(dashboard.screen.pane?.waitsFor != nil && dashboard.screen.pane?.blocks != nil)
  }
}
