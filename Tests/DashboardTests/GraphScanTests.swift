// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Facts about a dependency graph")
struct GraphScanTests {
  private typealias ID = OperationReport.ID

  private static let now = Scene.seconds(100)

  /// Returns a store with these dependencies. Operations wait if `states` has no other state for
  /// them. Operations with an id of 10 or more have the class `Slow`.
  private static func store(
    _ dependencies: [Int: [Int]], _ states: [Int: OperationState] = [:]
  ) -> OperationStore {
    var store = OperationStore()
    let ids = Set(dependencies.keys).union(dependencies.values.joined())
    store.apply(
      changed: ids.sorted().map { id in
        let state = states[id] ?? .waiting
        return OperationReport(
          id: ID(id), name: "", className: id < 10 ? "Quick" : "Slow", queue: Scene.cpu,
          state: state, dependencies: (dependencies[id] ?? []).map { ID($0) },
          started: state == .executing ? now - .seconds(3) : nil)
      }, removed: [])
    return store
  }

  private static func times(_ median: Duration, count: Int = 5) -> TimeStatistics {
    TimeStatistics(run: Percentiles(count: count, p50: median, p90: median, p99: median))
  }

  private static let medians = ["Quick": times(.seconds(1)), "Slow": times(.seconds(10))]

  // In this graph, the path from operation 1 to operation 4 has the most operations, and the path
  // through operation 10 takes the longest time.
  private static let graph = [1: [2, 10], 2: [3], 3: [4]]

  private func scan(
    _ store: OperationStore, _ times: [String: TimeStatistics] = [:], limit: Int = 100
  ) -> GraphScan {
    GraphScan(
      from: [ID(1)], .waitsFor, in: OperationGraph(store),
      estimates: RunTimeEstimates(times, at: Self.now),
      limit: limit)
  }

  @Test func levelsAreTheLongestDistancesFromTheRoot() {
    let scan = scan(Self.store([1: [2, 3], 2: [3], 3: [4, 5]], [4: .finished, 5: .held]))
    #expect(scan.levels.map(\.total) == [1, 1, 1, 2])
    #expect(scan.levels[3].finished == 1 && scan.levels[3].held == 1)
    #expect(scan.counts.total == 4 && !scan.isCut)
  }

  @Test func dependenciesOfFinishedOperationsAreNotFollowed() {
    let scan = scan(Self.store([1: [2], 2: [3]], [2: .finished]))
    #expect(scan.levels.map(\.total) == [1, 1])
  }

  @Test func operationsInACycleHaveNoLevel() {
    let scan = scan(Self.store([1: [2, 4], 2: [3], 3: [2]]))
    #expect(scan.levels.map(\.total) == [1, 1])
  }

  @Test func aScanAboveTheLimitIsCut() {
    let chain = Dictionary(uniqueKeysWithValues: (1..<50).map { ($0, [$0 + 1]) })
    let scan = scan(Self.store(chain), limit: 20)
    #expect(scan.isCut && scan.levels.count <= 21)
  }

  @Test func withoutStatisticsTheCriticalPathHasTheMostOperations() {
    let scan = scan(Self.store(Self.graph))
    #expect(scan.criticalPath == [ID(1), ID(2), ID(3), ID(4)])
    #expect(scan.remainingTime == nil)
  }

  @Test func withStatisticsTheCriticalPathIsTheSlowestPath() {
    let scan = scan(Self.store(Self.graph.merging([10: [11]]) { $1 }), Self.medians)
    #expect(scan.criticalPath == [ID(1), ID(10), ID(11)])
    #expect(scan.remainingTime == .seconds(21))
  }

  @Test func theElapsedTimeOfRunningOperationsIsSubtracted() {
    let chain = [1: [2], 2: [10]]
    let running = scan(Self.store(chain, [10: .executing]), Self.medians)
    #expect(running.remainingTime == .seconds(1 + 1 + 7))
    // An operation that has run for longer than the median counts with a remaining time of zero,
    // and never with a negative time.
    let late = scan(
      Self.store(chain, [10: .executing]),
      ["Quick": Self.times(.seconds(1)), "Slow": Self.times(.seconds(2))])
    #expect(late.remainingTime == .seconds(2))
  }

  @Test func fewRunsAreNoStatistics() {
    let scan = scan(
      Self.store(Self.graph),
      ["Quick": Self.times(.seconds(1)), "Slow": Self.times(.seconds(10), count: 4)])
    #expect(scan.remainingTime == nil && scan.criticalPath.count == 4)
  }

  // MARK: Deadlocks

  @Test("A graph with a cycle has no critical path and no remaining time")
  func aCycleHasNoCriticalPath() {
    let chain = [1: [2, 5], 5: [6], 6: [7]]
    let whole = scan(Self.store(chain), Self.medians)
    #expect(whole.criticalPath.count == 4 && whole.remainingTime != nil)
    let stuck = scan(Self.store(chain.merging([2: [3], 3: [2]]) { $1 }), Self.medians)
    #expect(stuck.criticalPath.isEmpty && stuck.remainingTime == nil)
    // A cancelled operation does not wait for its dependencies, so this cycle ends.
    let cancelled = Self.store(chain.merging([2: [3], 3: [2]]) { $1 }, [3: .cancelling])
    #expect(scan(cancelled, Self.medians).criticalPath.count == 4)
  }

  @Test("A root in a cycle has no critical path")
  func aRootInACycleHasNoCriticalPath() {
    #expect(scan(Self.store([1: [2], 2: [3], 3: [4, 1]])).criticalPath.isEmpty)
  }

  @Test("A graph with an operation of a deadlock has no critical path and no remaining time")
  func aDeadlockHasNoCriticalPath() {
    let store = Self.store([1: [2], 2: [3], 3: [4]], [4: .executing])
    func path(_ warning: MonitorWarning) -> [ID] {
      let deadlocked = DeadlockedOperations([warning], in: store)
      let scan = GraphScan(
        from: [ID(1)], .waitsFor, in: OperationGraph(store),
        estimates: RunTimeEstimates(Self.medians, deadlocked: deadlocked, at: Self.now), limit: 100)
      #expect((scan.remainingTime == nil) == scan.criticalPath.isEmpty)
      return scan.criticalPath
    }
    #expect(path(MonitorWarning(kind: .slow, operations: [ID(4)])).count == 4)
    #expect(path(MonitorWarning(kind: .slotDeadlock, operations: [ID(4)])).isEmpty)
    // The operations 1 to 3 need a slot of this queue, and none of its slots becomes free.
    let holder = MonitorWarning(
      kind: .slotDeadlock, operations: [ID(20)], awaited: [ID(21)], queue: Scene.cpu)
    #expect(path(holder).isEmpty)
    let neverAdded = MonitorWarning(
      kind: .neverEnqueuedDependency, operations: [ID(3)], awaited: [ID(99)])
    #expect(path(neverAdded).isEmpty)
  }

  @Test("Dependents that also wait for a cycle have no critical path")
  func dependentsThatWaitForACycleHaveNoPath() {
    func path(_ more: [Int: [Int]]) -> [ID] {
      let store = Self.store([2: [1], 3: [2], 4: [3]].merging(more) { $0 + $1 }, [1: .executing])
      return GraphScan(from: [ID(1)], .blocks, in: OperationGraph(store), limit: 100).criticalPath
    }
    #expect(path([:]).count == 4)
    #expect(path([4: [8], 8: [9], 9: [8]]).isEmpty)
  }

  @Test("The search for deadlocks is cut in a graph with very many dependencies")
  func theSearchForDeadlocksIsCut() {
    // Operation 1 depends on a chain of operations. Each of them also depends on 100 others.
    var graph: [Int: [Int]] = [:]
    for id in 1...20 { graph[id] = [id + 1] + Array(5_000..<5_100) }
    let whole = scan(Self.store(graph), limit: 200)
    #expect(!whole.isPathUnknown && whole.criticalPath.count == 21)
    let cut = scan(Self.store(graph), limit: 20)
    #expect(cut.isPathUnknown && cut.criticalPath.isEmpty && cut.remainingTime == nil)
    #expect(cut.stepCount <= 20 * GraphScan.deadlockStepLimit + 20 * 101)
  }

  @Test("The pane says that the critical path is unknown if the search for deadlocks was cut")
  func thePaneSaysThatThePathIsUnknown() throws {
    var graph: [Int: [Int]] = [1: Array(2...201)]
    for id in 2...201 { graph[id] = Array(5_000..<5_100) }
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.update(changed: Array(Self.store(graph).all))
    dashboard.press("1")
    dashboard.press(.enter)
    #expect(dashboard.selected == ID(1))
    #expect(dashboard.text().shows("no critical path: too many dependencies"))
    dashboard.press("1051")
    dashboard.press(.enter)
    #expect(!dashboard.text().shows("no critical path: too many dependencies"))
  }

  @Test func theLevelsAreDrawnToScaleAndFit() {
    var dependencies = [1: Array(2..<42)]
    for id in 2..<42 { dependencies[id] = [100] }
    let view = LevelsView(scan: scan(Self.store(dependencies)), columns: 2..<40)
    var canvas = Canvas(
      size: Size(columns: 42, rows: 10), capabilities: Capabilities(isUnicode: true))
    #expect(view.draw(row: 1, room: 8, on: &canvas) == 5)
    let text = canvas.grid.text
    #expect(text[1] == "  DEPTH 2")
    #expect(text[2] == "  L0     1 ·")
    #expect(text[3].hasPrefix("  L1    40 ····") && text[4] == "  L2     1 ·")
    var small = Canvas(
      size: Size(columns: 42, rows: 10), capabilities: Capabilities(isUnicode: true))
    #expect(view.draw(row: 1, room: 3, on: &small) == 4)
    #expect(small.grid.text[3] == "  + 2 more levels")
  }
}
