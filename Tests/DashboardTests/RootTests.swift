// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The view of all dependency trees")
struct RootTests {
  private typealias ID = OperationReport.ID

  /// The roots of the dependency trees in ``Scene``: the unfinished operations, and then the
  /// finished ones, both sorted by age.
  private static let roots = [1051, 1080, 1095, 1103, 1104, 1200, 1033].map { ID($0) }

  private static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("tR")
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

  @Test func capitalRShowsTheUnfinishedFirst() {
    let dashboard = Self.dashboard(rows: 60)
    #expect(rows(dashboard).filter { $0.depth == 0 }.map(\.id) == Self.roots.map { .node($0) })
    #expect(dashboard.text().shows("ROOTS 7"))
    // The view of all dependency trees shows the roots with their dependencies, and marks the
    // longest chain of all trees.
    #expect(rows(dashboard).contains { $0.id == .node(ID(1181)) && $0.isCritical })
  }

  @Test func rootsAreRequestedOnlyWhileShown() {
    var dashboard = Self.dashboard()
    #expect(dashboard.connection.interest.rootLimit == TreeState.rowLimit)
    dashboard.press("r")
    #expect(dashboard.connection.interest.rootLimit == 0)
    #expect(dashboard.tree?.tree.root == ID(1051))
    dashboard.press("R")
    #expect(dashboard.connection.interest.rootLimit > 0)
    dashboard.press("q")
    #expect(dashboard.connection.interest.rootLimit == 0)
  }

  @Test func aSharedDependencyIsDrawnOnce() {
    var store = OperationStore()
    let needs = [1: [3], 2: [3], 3: [4], 4: []]
    store.apply(
      changed: needs.map { id, dependencies in
        OperationReport(
          id: ID(id), name: "", className: "Block", queue: Scene.io, state: .waiting,
          dependencies: dependencies.map { ID($0) }, dependentCount: id < 3 ? 0 : 1)
      }, removed: [])
    let tree = DependencyTree(allOf: store, rowLimit: 100)
    #expect(
      tree.rows.map(\.id) == [
        .node(ID(1)), .node(ID(3)), .node(ID(4)), .node(ID(2)), .reference(ID(3), parent: ID(2)),
      ])
    #expect(tree.criticalPath == [ID(1), ID(3), ID(4)])
  }

  @Test("4.2: more than 50 roots are below their queues, which are folded at first")
  func manyAreGroupedByQueue() {
    #expect(!rows(Self.crowded(43)).contains { if case .queue = $0.id { true } else { false } })
    var dashboard = Self.crowded(44)
    let queues: [DependencyTree.RowID] = [
      .queue(Scene.cpu), .queue(Scene.io), .queue(Scene.net), .queue(Scene.index),
    ]
    dashboard.press("g")
    #expect(rows(dashboard).map(\.id) == queues)
    #expect(dashboard.text().shows("+ io  24 roots, 23 unfinished"))
    #expect(dashboard.selected == nil)
    dashboard.press("jl")
    #expect(rows(dashboard).count { $0.depth == 1 } == 24)
    #expect(dashboard.text().shows("- io  24 roots"))
    #expect(dashboard.text().shows(" ├─ #2 job 2"))
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
    #expect(rows(dashboard).count { $0.depth == 1 } == 24)
  }

  @Test func aQueueThatIsSelectedCanBeSuspended() {
    var dashboard = Self.crowded(60)
    dashboard.press("g")
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.cpu, true))])
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.press("d") == [.bell])
  }

  @Test func theCursorStaysAtTheTopUntilItIsMoved() {
    var dashboard = Self.dashboard()
    let first = dashboard.tree?.cursor
    let earlier = OperationReport(
      id: ID(1), name: "earlier", className: "BlockOperation", queue: Scene.cpu, state: .executing,
      started: Scene.now)
    dashboard.update(changed: [earlier])
    #expect(dashboard.tree?.cursor == .node(ID(1)))
    #expect(first != .node(ID(1)))
    dashboard.press("j")
    let chosen = dashboard.tree?.cursor
    dashboard.update(removed: [ID(1)])
    #expect(dashboard.tree?.cursor == chosen)
  }

  @Test("The title says clearly that there are more")
  func moreThanAreToldOf() {
    var dashboard = Self.dashboard()
    var update = Scene.update
    update.rootCount = 1_000_000
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("ROOTS first 7 of 1,000,000"))
    update.rootCount = nil
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("ROOTS 7 found so far"))
  }

  @Test func dependenciesAndDependentsBelongToTheRow() {
    for (key, direction) in [("d", GraphDirection.waitsFor), ("D", .blocks)] {
      var dashboard = Self.dashboard()
      // The root of the second dependency tree is two rows below the first root, after the
      // dependencies of the first root.
      dashboard.press("jj\(key)")
      #expect(dashboard.tree?.tree.root == ID(1080))
      #expect(dashboard.tree?.direction == direction)
    }
  }

  @Test func theCursorStaysOnItsOperationWhenItMovesToTheEnd() throws {
    var dashboard = Self.dashboard(rows: 60)
    dashboard.press("jj")
    var report = try #require(dashboard.live.operations[ID(1080)])
    report.state = .finished
    dashboard.update(changed: [report])
    #expect(dashboard.selected == ID(1080))
    #expect(rows(dashboard).last { $0.depth == 0 }?.id == .node(ID(1080)))
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
    #expect(dashboard.text().shows("no dependency trees"))
    dashboard.press("jkgGlh*")
    #expect(dashboard.selected == nil)
  }

  @Test(arguments: [(80, 24), (120, 40)])
  func theRootsLookAsStored(columns: Int, rows: Int) {
    GoldenFrame.check(
      Self.dashboard(columns: columns, rows: rows).picture(), named: "roots-\(columns)x\(rows)")
    var crowded = Self.crowded(60, columns: columns, rows: rows)
    crowded.press("gjl")
    GoldenFrame.check(crowded.picture(), named: "root-queues-\(columns)x\(rows)")
  }
}
