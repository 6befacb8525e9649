// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A graph of tasks that wait for each other. A task may wait for all of several tasks, or for any
/// one of several tasks. The graph computes which tasks can still end.
///
/// Tasks and pools are numbered from 0. A task that waits for nothing ends on its own. A pool has a
/// number of places, and each place is held by a task. A task that needs a place waits until one of
/// the holders ends. A task may need places in several pools.
struct ProgressGraph: Sendable {
  /// The conditions that a task waits for: the end of all `tasks`, and a place in each of `pools`.
  struct Needs: Equatable, Sendable {
    var tasks: [Int] = []
    /// The pools in which the task needs a place. Pools in which it already holds a place are not
    /// included.
    var pools: [Int] = []
  }

  /// The conditions that each task waits for.
  var needs: [Needs] = []
  /// The tasks that hold the places of each pool. A pool without holders blocks no task.
  var pools: [[Int]] = []

  /// The tasks that cannot end, in ascending order.
  ///
  /// The computation takes a time that is linear in the numbers of tasks, needs and places.
  var stuckTasks: [Int] {
    var missing = needs.map { needs in
      needs.tasks.count + needs.pools.count { !pools[$0].isEmpty }
    }
    let waiters = waiters
    let applicants = applicants
    let poolsOfHolder = poolsOfHolder
    var isPoolOpen = [Bool](repeating: false, count: pools.count)
    var ended = needs.indices.filter { missing[$0] == 0 }
    var next = 0
    func meet(_ task: Int) {
      missing[task] -= 1
      if missing[task] == 0 { ended.append(task) }
    }
    while next < ended.count {
      let task = ended[next]
      next += 1
      for waiter in waiters[task] { meet(waiter) }
      for pool in poolsOfHolder[task] where !isPoolOpen[pool] {
        isPoolOpen[pool] = true
        for applicant in applicants[pool] { meet(applicant) }
      }
    }
    return needs.indices.filter { missing[$0] > 0 }
  }

  /// The knots: sets of tasks that cannot end because they wait for each other. In each knot, every
  /// task waits, directly or through others, for every other task of the knot, and for no stuck
  /// task outside the knot.
  ///
  /// If a task cannot end, there is at least one knot. The tasks of each knot are in ascending
  /// order.
  var knots: [[Int]] {
    let stuck = stuckTasks
    var place = [Int?](repeating: nil, count: needs.count)
    for (index, task) in stuck.enumerated() { place[task] = index }
    var graph = DirectedGraph()
    for task in stuck {
      let holders = needs[task].pools.flatMap { pools[$0] }
      graph.appendNode(edgesTo: (needs[task].tasks + holders).compactMap { place[$0] })
    }
    return graph.terminalKnots().map { knot in knot.map { stuck[$0] }.sorted() }
  }

  /// For each task, the tasks that wait for it. A task that waits twice for the same task is listed
  /// twice.
  private var waiters: [[Int]] {
    var waiters = [[Int]](repeating: [], count: needs.count)
    for (task, need) in needs.enumerated() {
      for other in need.tasks { waiters[other].append(task) }
    }
    return waiters
  }

  /// For each pool, the tasks that need a place in it.
  private var applicants: [[Int]] {
    var applicants = [[Int]](repeating: [], count: pools.count)
    for (task, need) in needs.enumerated() {
      for pool in need.pools { applicants[pool].append(task) }
    }
    return applicants
  }

  /// For each task, the pools in which it holds a place.
  private var poolsOfHolder: [[Int]] {
    var poolsOfHolder = [[Int]](repeating: [], count: needs.count)
    for (pool, holders) in pools.enumerated() {
      for holder in holders { poolsOfHolder[holder].append(pool) }
    }
    return poolsOfHolder
  }
}
