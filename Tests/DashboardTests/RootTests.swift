// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The tree of all unfinished operations")
struct RootTests {
  private typealias ID = OperationReport.ID

  /// The roots of the dependency trees in ``Scene``: the unfinished operations that no other
  /// operation depends on.
  private static let roots = [1051, 1080, 1095, 1103, 1104, 1200].map { ID($0) }

  private static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("t")
    return dashboard
  }

  /// Returns a dashboard that shows `count` roots in addition to those of ``Scene``, alternately in
  /// two queues.
  private static func crowded(_ count: Int, columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Self.dashboard(columns: columns, rows: rows)
    dashboard.update(
      changed: (1...count).map { number in
        OperationReport(
          id: ID(number), name: "job \(number)", className: "Block",
          queue: number.isMultiple(of: 2) ? Scene.io : Scene.net, state: .waiting,
          added: Scene.seconds(90))
      })
    return dashboard
  }

  private func rows(_ dashboard: Dashboard) -> [DependencyTree.Row] {
    dashboard.tree?.tree.rows ?? []
  }

  @Test func tShowsAllUnfinishedOperationsUnfoldedToTheSelection() {
    let dashboard = Self.dashboard()
    #expect(rows(dashboard).filter { $0.depth == 0 }.map(\.id) == Self.roots.map { .node($0) })
    #expect(dashboard.text().shows("ROOTS 6"))
    #expect(dashboard.selected == ID(1042))
    #expect(dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("#1042 download tiles") })
    // The view of all dependency trees shows the roots with their dependencies, and marks the
    // longest chain of all trees.
    #expect(rows(dashboard).contains { $0.id == .node(ID(1181)) && $0.isCritical })
    let drawn = rows(dashboard).compactMap { row -> OperationReport? in
      if case .node(let id) = row.id { dashboard.live.operations[id] } else { nil }
    }
    let unfinished = dashboard.live.operations.all.filter { !$0.state.isOver }
    let grouped = rows(dashboard).reduce(0) { sum, row in
      guard case .group(let group) = row.id, !group.state.isOver else { return sum }
      if case .group(let count, _, _) = row.note { return sum + count }
      return sum
    }
    #expect(drawn.count { !$0.state.isOver } + grouped == unfinished.count)
  }

  @Test func theStateAndTheNumberOfOperationsBelowAreBesideTheName() throws {
    let dashboard = Self.dashboard(columns: 200, rows: 60)
    let line = try #require(dashboard.text().first { $0.contains("#1181 write manifest") })
    #expect(line.contains(#/4 waiting +┡━ #1181 write manifest/#))
    #expect(line.firstMatch(of: #/waiting( +)┡━/#).map { $0.output.1.count < 10 } == true)
  }

  @Test(
    "On every screen, a row of the tree has the state",
    arguments: [(40, 10), (60, 16), (80, 24), (120, 40)])
  func everyScreenHasTheState(columns: Int, rows: Int) {
    let dashboard = Self.dashboard(columns: columns, rows: rows)
    #expect(dashboard.text().contains { $0.contains(#/^▌.*executing +[│ ]*├─ #1042/#) })
  }

  @Test func theSelectionIsShownEvenIfManyAreSimilar() {
    var dashboard = Scene.dashboard()
    // Twenty similar operations share a row, except for the selected one.
    let similar = (1...20).map { number in
      OperationReport(
        id: ID(number), name: "part \(number)", className: "Part", queue: Scene.io,
        state: .executing, started: Scene.seconds(Double(number)))
    }
    let whole = OperationReport(
      id: ID(30), name: "whole", className: "Whole", queue: Scene.io, state: .waiting,
      dependencies: similar.map(\.id), unmetDependencyCount: 20)
    dashboard.update(changed: similar + [whole])
    dashboard.press("gjjt")
    #expect(dashboard.tree?.cursor == .node(ID(3)))
    #expect(rows(dashboard).contains { $0.note == .group(count: 19, first: ID(1), last: ID(20)) })
  }

  @Test func rootsAndThePathToTheSelectionAreRequestedOnlyWhileShown() {
    var dashboard = Self.dashboard()
    let path = Interest.Graph(root: ID(1042), direction: .blocks, limit: TreeState.rowLimit)
    #expect(dashboard.connection.interest.rootLimit == TreeState.rowLimit)
    #expect(dashboard.connection.interest.graphs.contains(path))
    dashboard.press("r")
    #expect(dashboard.connection.interest.rootLimit == 0)
    #expect(dashboard.tree?.tree.root == ID(1042))
    dashboard.press("R")
    #expect(dashboard.connection.interest.rootLimit > 0)
    #expect(dashboard.selected == ID(1042))
    dashboard.press("q")
    #expect(dashboard.connection.interest.rootLimit == 0)
    #expect(!dashboard.connection.interest.graphs.contains(path))
  }

  @Test func aSharedDependencyIsDrawnOnce() {
    let store = OperationStore.make([1: [3], 2: [3], 3: [4], 4: []])
    let tree = DependencyTree(allOf: OperationGraph(store), rowLimit: 100)
    #expect(
      tree.rows.map(\.id) == [
        .node(ID(1)), .node(ID(3)), .node(ID(4)), .node(ID(2)), .reference(ID(3), parent: ID(2)),
      ])
    #expect(tree.criticalPath == [ID(1), ID(3), ID(4)])
  }

  @Test("A cycle, and operations that a cancelled operation depended on, are in the tree")
  func everyUnfinishedOperationIsBelowARoot() {
    // Operations 1, 2 and 3 form a cycle, and operation 1 also depends on 4. The cancelled operation
    // 5 depends on 6, and no operation depends on 7.
    let store = OperationStore.make(
      [1: [2, 4], 2: [3], 3: [1], 5: [6], 7: []], states: [5: .cancelled])
    let tree = DependencyTree(allOf: OperationGraph(store), rowLimit: 100)
    #expect(tree.roots.ids == [ID(1), ID(6), ID(7)])
    #expect(
      tree.rows.map(\.id) == [
        .node(ID(1)), .node(ID(2)), .node(ID(3)), .reference(ID(1), parent: ID(3)), .node(ID(4)),
        .node(ID(6)), .node(ID(7)),
      ])
  }

  @Test func theSelectionIsARootIfItsDependentsAreNotKnown() {
    var store = OperationStore()
    store.apply(
      changed: (1...2).map { id in
        OperationReport(
          id: ID(id), name: "", className: "Block", queue: Scene.io, state: .ready,
          dependentCount: 5)
      }, removed: [])
    var tree = TreeState(allOf: OperationGraph(store), opened: ID(2))
    tree.settle(with: .init(graph: OperationGraph(store)), height: 10)
    #expect(tree.tree.rows.map(\.id) == [.node(ID(2))])
    #expect(tree.selected == ID(2))
  }

  // MARK: Queues

  @Test("4.2: more than 50 roots are below their queues, which are folded at first")
  func manyAreGroupedByQueue() {
    #expect(!rows(Self.crowded(44)).contains { if case .queue = $0.id { true } else { false } })
    var dashboard = Self.crowded(45)
    let queues: [DependencyTree.RowID] = [
      .queue(Scene.cpu), .queue(Scene.io), .queue(Scene.net), .queue(Scene.index),
    ]
    // Only the queue above the selection is unfolded.
    #expect(rows(dashboard).filter { $0.depth == 0 }.map(\.id) == queues)
    #expect(rows(dashboard).filter { $0.depth == 1 }.map(\.id).contains(.node(ID(1200))))
    #expect(dashboard.tree?.cursor == .node(ID(1042)))
    dashboard.press("*g")
    #expect(rows(dashboard).map(\.id) == queues)
    #expect(dashboard.text().shows("+ io  23 roots"))
    #expect(dashboard.selected == nil)
    dashboard.press("jl")
    #expect(rows(dashboard).count { $0.depth == 1 } == 23)
    #expect(dashboard.text().shows("- io  23 roots"))
    #expect(dashboard.text().shows("├─ #2 job 2"))
    // The keys unfold a queue, select the first root of a dependency tree in it, return to the
    // queue, and fold it again.
    dashboard.press("l")
    #expect(dashboard.selected == ID(2))
    dashboard.press("hh")
    #expect(rows(dashboard).map(\.id) == queues)
    #expect(dashboard.tree?.cursor == .queue(Scene.io))
    dashboard.press("*")
    #expect(rows(dashboard).count { $0.depth == 1 } == 51)
    dashboard.press("*")
    #expect(rows(dashboard).map(\.id) == queues)
    dashboard.press(.enter)
    #expect(rows(dashboard).count { $0.depth == 1 } == 23)
  }

  @Test func aQueueThatIsSelectedCanBeSuspended() {
    var dashboard = Self.crowded(60)
    dashboard.press("g")
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.cpu, true))])
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.press("d") == [.bell])
  }

  // MARK: The cursor

  @Test("The selected operation stays selected while rows above it come and go")
  func theCursorStaysAtItsOperation() throws {
    var dashboard = Self.dashboard(columns: 120, rows: 60)
    // A key selects another operation than the one for which the tree was opened.
    dashboard.press("gj")
    while dashboard.tree?.cursor != .node(ID(1104)) { dashboard.press("j") }
    let index = try #require(rows(dashboard).firstIndex { $0.id == .node(ID(1104)) })
    func isAtOperation(_ dashboard: Dashboard) -> Bool {
      dashboard.selected == ID(1104)
        && dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("#1104 merge shard 6") }
    }
    let earlier = (1...3).map { id in
      OperationReport(
        id: ID(id), name: "earlier", className: "BlockOperation", queue: Scene.cpu,
        state: .executing, started: Scene.now)
    }
    dashboard.update(changed: earlier)
    #expect(rows(dashboard).firstIndex { $0.id == .node(ID(1104)) } == index + 3)
    #expect(isAtOperation(dashboard))
    dashboard.update(removed: [ID(1), ID(1051), ID(1080)])
    #expect(rows(dashboard).firstIndex { $0.id == .node(ID(1104)) } != index + 3)
    #expect(isAtOperation(dashboard))
  }

  @Test("A selected operation that finishes keeps its row until another row is selected")
  func aFinishedOperationKeepsItsRowWhileItIsSelected() throws {
    for id in [1042, 1051] {
      var dashboard = Self.dashboard()
      if id == 1051 { dashboard.press("g") }
      var report = try #require(dashboard.live.operations[ID(id)])
      report.state = .finished
      report.finished = dashboard.now
      dashboard.update(changed: [report])
      #expect(dashboard.tree?.cursor == .node(ID(id)))
      #expect(dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("finished") })
      guard id == 1051 else { continue }
      dashboard.press("j")
      #expect(!rows(dashboard).contains { $0.id == .node(ID(1051)) })
    }
  }

  @Test("Without a selection, the operation of the first row is selected, and stays selected")
  func theFirstRowIsSelectedOnce() throws {
    var dashboard = Scene.dashboard()
    var report = try #require(dashboard.live.operations[ID(1042)])
    report.state = .finished
    dashboard.update(changed: [report])
    dashboard.press("t")
    #expect(dashboard.selected == ID(1051))
    dashboard.update(changed: [
      OperationReport(
        id: ID(1), name: "earlier", className: "Block", queue: Scene.cpu, state: .executing)
    ])
    #expect(rows(dashboard).first?.id == .node(ID(1)))
    #expect(dashboard.selected == ID(1051))
    dashboard.update(removed: [ID(1)])
    #expect(dashboard.selected == ID(1051))
  }

  // MARK: The filter

  /// The path from a root to operation 1077.
  private static let pathToMatch = [1200, 1181, 1180, 1101, 1077].map {
    DependencyTree.RowID.node(ID($0))
  }

  @Test func theFilterShowsMatchesAndTheirPaths() {
    var dashboard = Self.dashboard(rows: 60)
    dashboard.press("\\dem state:canc")
    dashboard.press(.enter)
    #expect(dashboard.selected == ID(1077))
    #expect(rows(dashboard).prefix(5).map(\.id) == Self.pathToMatch)
    #expect(!dashboard.text().shows("#1042 download") && !dashboard.text().shows("#1051"))
    #expect(dashboard.text().shows("filter: dem state:canc"))
    dashboard.press("\\")
    dashboard.take(.input(.control("u")))
    dashboard.press("#9999")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation in the tree matches the filter"))
    dashboard.press("\\")
    dashboard.take(.input(.control("u")))
    dashboard.press(.enter)
    #expect(rows(dashboard).count { $0.depth == 0 } == Self.roots.count)
  }

  @Test func theFilterWorksInTheTreeOfOneOperation() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d\\dem state:canc")
    dashboard.press(.enter)
    #expect(rows(dashboard).prefix(5).map(\.id) == Self.pathToMatch)
    #expect(!dashboard.text().shows("#1042 download"))
  }

  @Test func aSelectedRowStaysIfItNoLongerMatches() throws {
    var dashboard = Self.dashboard(rows: 60)
    dashboard.press("\\state:canc")
    dashboard.press(.enter)
    #expect(dashboard.selected == ID(1077))
    var report = try #require(dashboard.live.operations[ID(1077)])
    report.state = .cancelled
    report.finished = dashboard.now
    dashboard.update(changed: [report])
    #expect(dashboard.selected == ID(1077))
  }

  @Test("The title says clearly that there are more")
  func moreThanAreReported() {
    var dashboard = Self.dashboard()
    var update = Scene.update
    update.rootCount = 1_000_000
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("ROOTS first 6 of 1,000,000"))
    if let tree = dashboard.tree?.tree {
      let title = TreeTitle(tree: tree, rootCount: 1_000_000).spans(Glyphs(isUnicode: true))
      #expect(title.allSatisfy { $0.style.role != .warning })
    }
    update.rootCount = nil
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("ROOTS at least 6"))
  }

  @Test("The title names how many of the matches of the filter are known")
  func theTitleNamesTheKnownMatches() {
    var dashboard = Self.dashboard()
    dashboard.press("\\state:ready")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("ROOTS 2  filter: state:ready"))
    var update = Scene.update
    update.matchCount = 12_345
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("ROOTS 2  2 of 12,345 matches of filter: state"))
  }

  @Test func dependenciesAndDependentsBelongToTheRow() {
    for (key, direction) in [("d", GraphDirection.waitsFor), ("D", .blocks)] {
      var dashboard = Self.dashboard()
      // The second root is two rows below the first one, after the dependencies of the first root.
      dashboard.press("gjj\(key)")
      #expect(dashboard.tree?.tree.root == ID(1080))
      #expect(dashboard.tree?.direction == direction)
    }
  }

  @Test func allTreesAreExported() {
    var dashboard = Self.crowded(60)
    guard case .export(let frame) = dashboard.press("e").first else {
      Issue.record("nothing is exported")
      return
    }
    #expect(Set(frame.operations.map(\.id)).isSuperset(of: (1...60).map { ID($0) }))
    #expect(Set(frame.operations.map(\.id)).isSuperset(of: Self.roots))
  }

  @Test func withoutOperationsTheTreesAreEmpty() {
    var dashboard = Self.dashboard()
    dashboard.update(removed: Scene.operations.map(\.id))
    #expect(dashboard.text().shows("no unfinished operations"))
    dashboard.press("jkgGlh*")
    // The keys find no row, so the ghost cursor of the operation that was selected stays.
    #expect(dashboard.tree?.tree.rows == [] && dashboard.tree?.isGhost == true)
  }

  @Test(arguments: [(80, 24), (120, 40)])
  func theRootsLookAsStored(columns: Int, rows: Int) {
    GoldenFrame.check(
      Self.dashboard(columns: columns, rows: rows).picture(), named: "roots-\(columns)x\(rows)")
    var crowded = Self.crowded(60, columns: columns, rows: rows)
    crowded.press("*gjl")
    GoldenFrame.check(crowded.picture(), named: "root-queues-\(columns)x\(rows)")
  }
}
