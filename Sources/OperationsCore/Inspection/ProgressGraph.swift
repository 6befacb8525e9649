// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Tasks that wait for each other, some for all of several ones and some for any: finds out which can
/// still come to their end.
///
/// Tasks and pools are numbered from 0. A task that waits for nothing comes to its end by itself. A
/// pool is a number of places, each of them taken by a task; a task that needs a place there waits
/// for any of these to end. A task may need places of several pools.
struct ProgressGraph: Sendable {
  /// What one task waits for: all of `tasks`, and a place in each of `pools`.
  struct Needs: Equatable, Sendable {
    var tasks: [Int] = []
    /// Not those in which it has a place.
    var pools: [Int] = []
  }

  /// For each task.
  var needs: [Needs] = []
  /// The tasks that hold the places of each pool. One where nobody holds a place lets everybody in.
  var pools: [[Int]] = []

  /// The tasks that cannot end, whatever happens among them, in ascending order.
  ///
  /// Linear in tasks, needs and places.
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

  /// Among tasks that are stuck, the knots that are stuck by themselves: in each, every task waits,
  /// directly or through others, for each of the others and for nothing outside that is stuck.
  ///
  /// Where a task is stuck there is a knot. Ascending order.
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

  /// For each task those that wait for it, as often as they do.
  private var waiters: [[Int]] {
    var waiters = [[Int]](repeating: [], count: needs.count)
    for (task, need) in needs.enumerated() {
      for other in need.tasks { waiters[other].append(task) }
    }
    return waiters
  }

  /// For each pool the tasks that need a place there.
  private var applicants: [[Int]] {
    var applicants = [[Int]](repeating: [], count: pools.count)
    for (task, need) in needs.enumerated() {
      for pool in need.pools { applicants[pool].append(task) }
    }
    return applicants
  }

  /// For each task the pools in which it holds a place.
  private var poolsOfHolder: [[Int]] {
    var poolsOfHolder = [[Int]](repeating: [], count: needs.count)
    for (pool, holders) in pools.enumerated() {
      for holder in holders { poolsOfHolder[holder].append(pool) }
    }
    return poolsOfHolder
  }
}
