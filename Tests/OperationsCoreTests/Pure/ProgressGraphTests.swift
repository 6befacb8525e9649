// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Which tasks can still end")
struct ProgressGraphTests {
  private typealias Needs = ProgressGraph.Needs

  private func graph(_ needs: [Needs], pools: [[Int]] = []) -> ProgressGraph {
    ProgressGraph(needs: needs, pools: pools)
  }

  @Test("A task that waits for one that ends by itself ends too; a cycle does not")
  func tasks() {
    #expect(graph([Needs(), Needs(tasks: [0]), Needs(tasks: [0, 1])]).stuckTasks.isEmpty)
    let cycle = graph([Needs(tasks: [1]), Needs(tasks: [0]), Needs(tasks: [0]), Needs()])
    #expect(cycle.stuckTasks == [0, 1, 2])
    #expect(cycle.knots == [[0, 1]])
    #expect(graph([Needs(tasks: [0])]).knots == [[0]])
    #expect(graph([]).knots.isEmpty)
  }

  @Test("A task that needs a place waits for any holder, not for all")
  func pools() {
    // Tasks 0 and 1 have the two places of a pool, which is a resource with a limited number of
    // places. Task 2 needs one of these places.
    let one = graph([Needs(tasks: [2]), Needs(), Needs(pools: [0])], pools: [[0, 1]])
    #expect(one.stuckTasks.isEmpty && one.knots.isEmpty)
    let both = graph([Needs(tasks: [2]), Needs(tasks: [2]), Needs(pools: [0])], pools: [[0, 1]])
    #expect(both.stuckTasks == [0, 1, 2] && both.knots == [[0, 1, 2]])
  }

  @Test("A task that needs places of two pools is stuck if one of these stays full")
  func twoPools() {
    // Two pools (resources with a limited number of places) have one place each. Task 0 has the
    // place of the first pool and waits for task 2. Task 1 has the place of the second pool and
    // ends on its own. Task 2 needs a place of each pool.
    let needs = [Needs(tasks: [2]), Needs(), Needs(pools: [0, 1])]
    #expect(graph(needs, pools: [[0], [1]]).stuckTasks == [0, 2])
    #expect(graph(needs, pools: [[], [1]]).stuckTasks.isEmpty)
  }

  @Test("A knot that is stuck only because of another one is not reported")
  func knotsAtTheBottom() {
    // Task 0 waits for task 2, which needs a place of a pool. Tasks 0 and 1 have all places of this
    // pool. Tasks 1 and 3 are stuck because they wait for each other.
    let needs = [Needs(tasks: [2]), Needs(tasks: [3]), Needs(pools: [0]), Needs(tasks: [1])]
    let graph = graph(needs, pools: [[0, 1]])
    #expect(graph.stuckTasks == [0, 1, 2, 3])
    #expect(graph.knots == [[1, 3]])
  }

  @Test("In any small graph, the stuck tasks are those that end in no order", arguments: 1..<7)
  func anyGraph(taskCount: Int) {
    var random = SeededGenerator(seed: UInt64(taskCount))
    for _ in 0..<Effort.scaled(2_000) {
      let graph = Self.random(taskCount, using: &random)
      let stuck = Set(graph.stuckTasks)
      #expect(stuck == Self.largestStuckSet(in: graph), "\(graph)")
      let knots = graph.knots
      #expect(knots.isEmpty == stuck.isEmpty, "\(graph)")
      #expect(Set(knots.joined()).count == knots.joined().count)
      for knot in knots {
        // A knot is a smallest set of stuck tasks that wait for each other. Its tasks are stuck
        // regardless of all other tasks, and no smaller part of the knot would be stuck on its own.
        #expect(Self.isStuck(Set(knot), in: graph), "\(graph)")
        for member in knot { #expect(Self.reach(of: member, stuck, in: graph) == Set(knot)) }
      }
    }
  }

  private static func random(
    _ taskCount: Int, using random: inout SeededGenerator
  ) -> ProgressGraph {
    let poolCount = Int.random(in: 0...2, using: &random)
    let density = Int.random(in: 0...5, using: &random)
    var graph = ProgressGraph()
    graph.pools = (0..<poolCount).map { _ in
      (0..<taskCount).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    }
    for _ in 0..<taskCount {
      let tasks = (0..<taskCount).filter { _ in Int.random(in: 0..<10, using: &random) < density }
      let pools = (0..<poolCount).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      graph.needs.append(ProgressGraph.Needs(tasks: tasks, pools: pools))
    }
    return graph
  }

  /// Returns whether each of these tasks waits for other tasks of the same set, so that none can
  /// end, whatever the tasks outside the set do.
  private static func isStuck(_ tasks: Set<Int>, in graph: ProgressGraph) -> Bool {
    tasks.allSatisfy { task in
      let needs = graph.needs[task]
      let isPoolShut = needs.pools.map { graph.pools[$0] }.contains {
        !$0.isEmpty && $0.allSatisfy(tasks.contains)
      }
      return isPoolShut || needs.tasks.contains(where: tasks.contains)
    }
  }

  /// Returns the largest set of tasks that are stuck, by trying every set. The union of two stuck
  /// sets is stuck too.
  private static func largestStuckSet(in graph: ProgressGraph) -> Set<Int> {
    var largest: Set<Int> = []
    for bits in 0..<(1 << graph.needs.count) {
      let tasks = Set(graph.needs.indices.filter { bits & 1 << $0 != 0 })
      if isStuck(tasks, in: graph) { largest.formUnion(tasks) }
    }
    return largest
  }

  /// Returns the stuck tasks that a stuck task waits for, directly or indirectly.
  private static func reach(of task: Int, _ stuck: Set<Int>, in graph: ProgressGraph) -> Set<Int> {
    var reached: Set<Int> = []
    var new = [task]
    while let next = new.popLast() {
      let needs = graph.needs[next]
      let targets = needs.tasks + needs.pools.flatMap { graph.pools[$0] }
      for target in targets where stuck.contains(target) && reached.insert(target).inserted {
        new.append(target)
      }
    }
    return reached
  }
}
