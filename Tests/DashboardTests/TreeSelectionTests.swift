// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The selection in the tree")
struct TreeSelectionTests {
  private typealias ID = OperationReport.ID

  /// Returns reports of operations with these dependencies. Operations without dependencies execute, and the
  /// others wait, unless `states` has another state.
  private static func reports(
    _ dependencies: [Int: [Int]], states: [Int: OperationState] = [:]
  ) -> [OperationReport] {
    dependencies.sorted { $0.key < $1.key }.map { id, needed in
      let state = states[id] ?? (needed.isEmpty ? .executing : .waiting)
      let moment = Scene.seconds(Double(id))
      return OperationReport(
        id: ID(id), name: "operation \(id)", className: "Block", queue: Scene.cpu, state: state,
        dependencies: needed.map { ID($0) },
        unmetDependencyCount: needed.count { states[$0]?.isOver != true }, added: moment,
        becameReady: moment, started: moment, finished: state.isOver ? moment : nil)
    }
  }

  private static func dashboard(
    _ dependencies: [Int: [Int]], states: [Int: OperationState] = [:]
  ) -> Dashboard {
    var dashboard = Dashboard(configuration: .init())
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.update(changed: reports(dependencies, states: states))
    return dashboard
  }

  /// Returns a dashboard with the tree of five operations that depend on no other operation. The third one is
  /// selected.
  private static func five() -> Dashboard {
    var dashboard = dashboard([1: [], 2: [], 3: [], 4: [], 5: []])
    dashboard.press("tgjj")
    return dashboard
  }

  private func cursorLine(_ dashboard: Dashboard) -> Int? {
    let first = dashboard.screen.layout?.body.lowerBound ?? 0
    return dashboard.text().firstIndex { $0.hasPrefix("▌") }.map { $0 - first }
  }

  private func rows(_ dashboard: Dashboard) -> [DependencyTree.RowID] {
    dashboard.tree?.tree.rows.map(\.id) ?? []
  }

  // MARK: The ghost cursor

  @Test func aGhostCursorStaysOnTheLineOfARemovedOperation() {
    var dashboard = Self.five()
    #expect(dashboard.selected == ID(3) && cursorLine(dashboard) == 2)
    dashboard.update(removed: [ID(3)])
    #expect(dashboard.selected == ID(3) && cursorLine(dashboard) == 2)
    let ghost = dashboard.text().first { $0.hasPrefix("▌") }
    #expect(ghost?.hasSuffix(" #3 selected row: finished · g: first row") == true)
    #expect(rows(dashboard) == [1, 2, 4, 5].map { .node(ID($0)) })
    #expect(dashboard.text().shows("#4 operation 4") && dashboard.text().shows("#5 operation 5"))
    // The rows of the other operations move, but the cursor stays in its line.
    dashboard.update(removed: [ID(1)])
    #expect(dashboard.selected == ID(3) && cursorLine(dashboard) == 2)
    dashboard.update(removed: [ID(2), ID(4)])
    #expect(dashboard.selected == ID(3) && cursorLine(dashboard) == 1)
  }

  @Test("If the key * hides the selected row, the operation above that row is selected")
  func foldingAllSelectsTheOperationAbove() {
    // Each of the roots 1, 4 and 7 has two dependencies.
    var dashboard = Self.dashboard([
      1: [2, 3], 2: [], 3: [], 4: [5, 6], 5: [], 6: [], 7: [8, 9], 8: [], 9: [],
    ])
    dashboard.press("tgjj")
    #expect([ID(2), ID(3)].contains(dashboard.selected))
    dashboard.press("*")
    #expect(dashboard.selected == ID(1))
  }

  @Test func theKeyThatFoldsAllRowsKeepsTheGhostCursor() {
    var dashboard = Self.five()
    dashboard.update(removed: [ID(3)])
    dashboard.press("*")
    #expect(dashboard.selected == ID(3))
    #expect(dashboard.text().shows("#3 selected row: finished"))
  }

  @Test(
    "The keys j and k continue from the ghost cursor",
    arguments: [("j", 4), ("k", 2), ("jj", 5), ("kk", 1), ("kj", 4), ("g", 1), ("G", 5)])
  func keysContinueFromTheGhost(keys: String, expected: Int) {
    var dashboard = Self.five()
    dashboard.update(removed: [ID(3)])
    dashboard.press(keys)
    #expect(dashboard.tree?.cursor == .node(ID(expected)))
    #expect(!dashboard.text().shows("selected row: finished"))
  }

  @Test("A key that concerns the selected row does nothing at a ghost cursor, and says so")
  func keysDoNothingAtTheGhost() {
    var dashboard = Self.five()
    dashboard.update(removed: [ID(3)])
    for key in ["x", " ", "c", "h", "l", "r", "b", "d", "S"] {
      #expect(dashboard.press(key) == [.bell], "key \(key)")
      #expect(dashboard.text().shows("#3 has already finished"), "key \(key)")
    }
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.prompts.question == nil && dashboard.tags.ids.isEmpty)
    #expect(dashboard.tree?.isGhost == true && dashboard.tree?.tree.root == nil)
  }

  @Test("A command for tagged operations works at a ghost cursor")
  func tagsWorkAtTheGhost() {
    var dashboard = Self.five()
    dashboard.press("k kj")
    #expect(dashboard.tags.ids == [ID(2)])
    dashboard.update(removed: [ID(3)])
    dashboard.press("x")
    #expect(dashboard.prompts.question?.ids == [ID(2)])
  }

  @Test("An unfinished operation that leaves the tree of another operation leaves a ghost cursor")
  func anUnfinishedOperationLeavesAGhost() throws {
    var dashboard = Self.dashboard([1: [2], 2: [3], 3: []])
    dashboard.press("1")
    dashboard.press(.enter)
    dashboard.press("djj")
    #expect(dashboard.tree?.cursor == .node(ID(3)))
    // Operation 2 finishes, although operation 3 has not finished.
    dashboard.update(changed: Self.reports([2: [3]], states: [2: .cancelled]))
    #expect(dashboard.selected == ID(3) && cursorLine(dashboard) == 2)
    #expect(dashboard.text().shows("#3 selected row: not in this tree"))
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("#3 operation 3 is no longer in this tree"))
  }

  @Test func aGhostCursorStaysInAnEmptyTree() {
    var dashboard = Self.dashboard([1: []])
    dashboard.press("t")
    dashboard.update(removed: [ID(1)])
    #expect(dashboard.text().shows("#1 selected row: finished"))
    #expect(dashboard.text().shows("no unfinished operations"))
    dashboard.press("j")
    // The new operation is not selected, because no key has selected it.
    dashboard.update(changed: Self.reports([2: []]))
    #expect(dashboard.selected == ID(1) && cursorLine(dashboard) == 0)
    dashboard.press("j")
    #expect(dashboard.selected == ID(2))
  }

  @Test func theGhostCursorHasRoomOnTheSmallestScreen() {
    var dashboard = Self.dashboard(
      Dictionary(uniqueKeysWithValues: (1...30).map { ($0, []) }))
    dashboard.take(.resized(Layout.minimum))
    dashboard.press("tG")
    dashboard.update(removed: [ID(30)])
    #expect(dashboard.text().shows("▌ selected row: finished · g: first row"))
    dashboard.press("k")
    #expect(dashboard.tree?.cursor == .node(ID(29)))
    #expect(dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("#29") })
  }

  @Test("A row of several operations that leaves the tree leaves a ghost cursor")
  func aGroupLeavesAGhost() throws {
    let parts = Array(2...13)
    var dashboard = Self.dashboard(
      Dictionary(uniqueKeysWithValues: parts.map { ($0, []) }).merging([1: parts]) { $1 })
    dashboard.press("1")
    dashboard.press(.enter)
    dashboard.press("dj")
    let group = DependencyTree.RowID.group(
      .init(parent: ID(1), state: .executing, kind: "Block"))
    #expect(dashboard.tree?.cursor == group)
    dashboard.update(removed: (8...13).map { ID($0) })
    #expect(dashboard.tree?.cursor == group && dashboard.tree?.isGhost == true)
    #expect(dashboard.text().shows("▌ selected row: no longer in the tree"))
    #expect(dashboard.press("l") == [.bell])
    #expect(dashboard.text().shows("the selected row is no longer in the tree; press j, k or g"))
    dashboard.press("j")
    #expect(dashboard.selectedOperation == ID(2))
  }

  @Test(
    "The selected operation stays selected when other operations change", arguments: 0..<20)
  func theSelectionIsAnOperation(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func graph(_ ids: some Sequence<Int>) -> (edges: [Int: [Int]], states: [Int: OperationState]) {
      var (edges, states): ([Int: [Int]], [Int: OperationState]) = ([:], [:])
      for id in ids {
        let needed = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          Int.random(in: 1...70, using: &random)
        }
        edges[id] = Array(Set(needed)).sorted()
        states[id] = OperationState.allCases.randomElement(using: &random)
      }
      return (edges, states)
    }
    var (edges, states) = graph(1...40)
    states[1] = .executing
    var dashboard = Self.dashboard(edges, states: states)
    dashboard.press("tg")
    for _ in 0..<Int.random(in: 0...20, using: &random) { dashboard.press("j") }
    while dashboard.selectedOperation == nil { dashboard.press("k") }
    let chosen = dashboard.selectedOperation
    for step in 0..<30 {
      let ids = Set(
        (0..<Int.random(in: 0...8, using: &random)).map { _ in
          Int.random(in: 1...(40 + step), using: &random)
        })
      (edges, states) = graph(ids)
      let removed = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        ID(Int.random(in: 1...70, using: &random))
      }
      dashboard.update(
        changed: Self.reports(edges, states: states),
        removed: removed.filter { !ids.contains(Int($0.rawValue)) })
      #expect(dashboard.selectedOperation == chosen, "seed \(seed), step \(step)")
      let cursors = dashboard.text().filter { $0.hasPrefix("▌") }
      #expect(cursors.count == 1, "seed \(seed), step \(step)")
    }
  }

  // MARK: The row of the selected operation

  @Test("If a reference leaves the tree, the own row of its operation is selected")
  func aReferenceIsReplacedByTheOwnRow() throws {
    var dashboard = Self.dashboard([1: [3], 2: [3], 3: []])
    dashboard.press("tG")
    #expect(dashboard.tree?.cursor == .reference(ID(3), parent: ID(2)))
    dashboard.update(changed: Self.reports([2: [3]], states: [2: .cancelled]))
    #expect(dashboard.tree?.cursor == .node(ID(3)))
    #expect(dashboard.tree?.isGhost == false)
  }

  @Test("A group of similar operations does not hide the operation above the selected one")
  func noGroupHidesTheSelection() {
    // Operation 1 depends on a few similar operations. Each of them depends on one other operation.
    func graph(_ count: Int) -> [Int: [Int]] {
      var graph = [1: (0..<count).map { 10 + $0 }]
      for number in 0..<count { (graph[10 + number], graph[50 + number]) = ([50 + number], []) }
      return graph
    }
    var dashboard = Self.dashboard(graph(3))
    // The tree is opened for another operation than the one that is selected later.
    dashboard.press("1")
    dashboard.press(.enter)
    dashboard.press("tgjjjj")
    #expect(dashboard.tree?.cursor == .node(ID(51)))
    dashboard.update(changed: Self.reports(graph(20)))
    #expect(rows(dashboard).contains { if case .group = $0 { true } else { false } })
    #expect(dashboard.tree?.cursor == .node(ID(51)))
    #expect(dashboard.tree?.isGhost == false)
  }

  @Test("If the roots are grouped by queue, the queue above the selection is unfolded")
  func theQueueAboveTheSelectionIsUnfolded() {
    var dashboard = Self.five()
    dashboard.update(
      changed: Self.reports(Dictionary(uniqueKeysWithValues: (10...70).map { ($0, []) })))
    #expect(rows(dashboard).first == .queue(Scene.cpu))
    #expect(dashboard.tree?.cursor == .node(ID(3)))
    #expect(dashboard.tree?.isGhost == false)
    // The user can fold the queue, and it stays folded.
    dashboard.press("hh")
    dashboard.update(changed: Self.reports([71: []]))
    #expect(rows(dashboard) == [.queue(Scene.cpu)])
  }

  @Test("The first row that the tree has is selected once")
  func theFirstRowIsSelectedAsSoonAsThereIsOne() {
    var dashboard = Self.dashboard([:])
    dashboard.press("t")
    #expect(dashboard.selectedOperation == nil)
    dashboard.update(changed: Self.reports([2: []]))
    #expect(dashboard.selected == ID(2))
    dashboard.update(changed: Self.reports([1: []]))
    #expect(rows(dashboard).first == .node(ID(1)) && dashboard.selected == ID(2))
  }

  // MARK: Opening the tree

  @Test("With a filter, t also unfolds the tree to the selected operation")
  func tUnfoldsWithAFilter() {
    var dashboard = Self.dashboard(
      Dictionary(uniqueKeysWithValues: (1...60).map { ($0, []) }).merging([
        70: [71], 71: [],
      ]) { $1 })
    dashboard.press("\\class:Block state:exec")
    dashboard.press(.enter)
    dashboard.press("71")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == ID(71))
    dashboard.press("t")
    #expect(rows(dashboard).first == .queue(Scene.cpu))
    #expect(dashboard.tree?.cursor == .node(ID(71)))
    #expect(dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("#71 operation 71") })
  }

  @Test("The tree of all operations keeps its folded rows while another view or tree is shown")
  func foldingIsKept() {
    var dashboard = Self.dashboard([1: [2], 2: [], 3: [4], 4: []])
    let folded: [DependencyTree.RowID] = [
      .node(ID(1)), .folded(ID(1)), .node(ID(3)), .node(ID(4)),
    ]
    dashboard.press("tgh")
    #expect(rows(dashboard) == folded)
    // The selection of the list is operation 3 or 4, so operation 1 may stay folded.
    dashboard.press("q3")
    dashboard.press(.enter)
    dashboard.press("t")
    #expect(rows(dashboard) == folded && dashboard.selected == ID(3))
    dashboard.press("r")
    #expect(dashboard.tree?.tree.root == ID(3))
    dashboard.press("R")
    #expect(rows(dashboard) == folded && dashboard.selected == ID(3))
    // The row above the selected operation is unfolded.
    dashboard.press("q2")
    dashboard.press(.enter)
    dashboard.press("t")
    #expect(rows(dashboard) == [1, 2, 3, 4].map { .node(ID($0)) } && dashboard.selected == ID(2))
  }

  @Test("The key * folds all rows although a folded operation has left the tree")
  func foldingOfARemovedOperationIsIgnored() {
    var dashboard = Self.dashboard([1: [2], 2: [], 3: [4], 4: []])
    dashboard.press("tgh")
    dashboard.update(removed: [ID(1), ID(2)])
    dashboard.press("j*")
    #expect(rows(dashboard) == [.node(ID(3)), .folded(ID(3))])
    dashboard.press("*")
    #expect(rows(dashboard) == [.node(ID(3)), .node(ID(4))])
  }

  @Test("The tree of one operation keeps its folded rows until another operation is the root")
  func foldingOfOneTreeIsKept() {
    var dashboard = Self.dashboard([1: [2], 2: [3], 3: []])
    dashboard.press("1")
    dashboard.press(.enter)
    dashboard.press("djh")
    #expect(rows(dashboard) == [.node(ID(1)), .node(ID(2)), .folded(ID(2))])
    dashboard.press("qd")
    #expect(rows(dashboard) == [.node(ID(1)), .node(ID(2)), .folded(ID(2))])
    dashboard.press("jr")
    #expect(rows(dashboard) == [.node(ID(2)), .node(ID(3))])
  }
}
