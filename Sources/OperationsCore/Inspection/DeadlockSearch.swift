// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Finds the deadlocks in a graph of waiting operations.
struct DeadlockSearch {
  private let picture: WaitPicture

  /// Returns the deadlocks that contain operations of these queues, and the deadlocks that
  /// operations of these queues wait for.
  ///
  /// The search may get the last reference to an operation that finishes meanwhile. All references are
  /// released on another thread, because the caller may hold a lock that a `deinit` of the user needs.
  static func deadlocks(in queues: [OperationQueue]) -> [OperationDeadlock] {
    let (deadlocks, references) = search(queues)
    // A child process of `fork()` has no other thread that could release the references.
    if references.isEmpty || csystem_is_forked_child() { return deadlocks }
    ReleaseList.releaseElsewhere(consume references)
    return deadlocks
  }

  /// Returns the deadlocks, and the references to the objects that the search has read. The search
  /// keeps no other references to them.
  private static func search(
    _ queues: [OperationQueue]
  ) -> ([OperationDeadlock], references: [any AnyObject & Sendable]) {
    var picture = WaitPicture(of: queues)
    var deadlocks = DeadlockSearch(picture: picture).all
    if !deadlocks.isEmpty {
      picture.confirm()
      deadlocks = DeadlockSearch(picture: picture).all
    }
    return (deadlocks, picture.references)
  }

  /// Returns a cycle of dependencies that keeps an operation from starting. If the operation is in
  /// a cycle, the result is a shortest cycle that begins with the operation.
  static func dependencyCycle(from operation: Operation) -> [Operation]? {
    var picture = WaitPicture(dependenciesOf: operation)
    picture.readAll()
    if picture.graph.disjointCycles().isEmpty { return nil }
    picture.confirm()
    let graph = picture.graph
    let cycle = graph.shortestCycle(through: 0) ?? graph.disjointCycles().first
    return cycle?.map { picture.operations[$0] }
  }

  private var all: [OperationDeadlock] {
    let cycles = cycles
    return cycles.map(cycle) + knots(apartFrom: cycles) + neverAdded
  }

  // MARK: Kinds

  private func cycle(_ members: [Int]) -> OperationDeadlock { .cycle(members.map(reference)) }

  private var cycles: [[Int]] { picture.graph.disjointCycles() }

  /// Returns the deadlocks that are caused by missing slots, or by exclusions that several
  /// operations hold.
  private func knots(apartFrom cycles: [[Int]]) -> [OperationDeadlock] {
    // Usually, no operation needs a slot of a full queue, or an exclusion that several operations
    // hold. In this case, no deadlock has one of these causes.
    if picture.waits.allSatisfy({ $0.fullQueue == nil && $0.exclusion == nil }) { return [] }
    let queueCount = picture.slotHolders.count
    var graph = ProgressGraph()
    graph.needs = picture.waits.map { wait in
      ProgressGraph.Needs(
        tasks: wait.operations,
        pools: [wait.fullQueue, wait.exclusion.map { queueCount + $0 }].compactMap(\.self))
    }
    graph.pools = picture.slotHolders + picture.exclusionHolders
    let known = Set(cycles.joined())
    return graph.knots.flatMap { knot -> [OperationDeadlock] in
      let holders = holders(in: knot)
      let slots: [OperationDeadlock] = holders.isEmpty ? [] : [.slots(holders)]
      let cycles = known.isDisjoint(with: knot) ? self.cycles(in: knot) : []
      return cycles.map(cycle) + slots
    }
  }

  /// Returns the cycles in a knot, which is a set of operations that all wait for each other. The
  /// result is empty if no operation of the knot waits for an exclusion.
  private func cycles(in knot: [Int]) -> [[Int]] {
    if knot.allSatisfy({ picture.waits[$0].exclusion == nil }) { return [] }
    let places = Dictionary(uniqueKeysWithValues: zip(knot, knot.indices))
    var graph = DirectedGraph()
    for member in knot { graph.appendNode(edgesTo: awaited(by: member).compactMap { places[$0] }) }
    return graph.disjointCycles().map { cycle in cycle.map { knot[$0] } }
  }

  /// Returns the operations that an operation waits for. If it waits for an exclusion, the result
  /// includes all holders of the exclusion, although only one holder must finish.
  private func awaited(by operation: Int) -> [Int] {
    let wait = picture.waits[operation]
    return wait.operations + (wait.exclusion.map { picture.exclusionHolders[$0] } ?? [])
  }

  private var neverAdded: [OperationDeadlock] {
    var waiting: [Int: [Int]] = [:]
    for (operation, wait) in picture.waits.enumerated() {
      for awaited in wait.operations where picture.waits[awaited].isLeftAlone {
        waiting[awaited, default: []].append(operation)
      }
    }
    return waiting.keys.sorted().map {
      .neverAdded(
        reference($0), className: String(describing: type(of: picture.operations[$0])),
        waiting: (waiting[$0] ?? []).map(reference))
    }
  }

  private func reference(_ number: Int) -> OperationReference {
    OperationReference(picture.operations[number])
  }

  // MARK: Slots

  /// Returns the operations of a knot that hold slots that other operations of the knot need. A
  /// knot is a set of operations that all wait for each other.
  private func holders(in knot: [Int]) -> [OperationDeadlock.SlotHolder] {
    let needed = Set(knot.compactMap { picture.waits[$0].fullQueue }).sorted()
    return needed.flatMap { queue in
      picture.slotHolders[queue].compactMap { holder in
        guard let chain = chain(from: holder), let last = chain.last,
          let neededQueue = picture.waits[last].fullQueue
        else { return nil }
        return OperationDeadlock.SlotHolder(
          operation: reference(holder), queue: QueueReference(picture.queues[queue]),
          chain: chain.map(reference), neededQueue: QueueReference(picture.queues[neededQueue]))
      }
    }
  }

  /// Returns the shortest path from an operation that `holder` waits for to an operation that needs
  /// a slot. The path leads to an operation that needs only a slot, if such an operation exists.
  private func chain(from holder: Int) -> [Int]? {
    var predecessors: [Int: Int] = [:]
    var reached = [holder]
    var next = 0
    var nearest: Int?
    while next < reached.count {
      let current = reached[next]
      next += 1
      if picture.waits[current].fullQueue != nil {
        if nearest == nil { nearest = current }
        if awaited(by: current).isEmpty {
          return path(to: current, from: holder, predecessors)
        }
      }
      for target in awaited(by: current)
      where target != holder && predecessors[target] == nil {
        predecessors[target] = current
        reached.append(target)
      }
    }
    return nearest.map { path(to: $0, from: holder, predecessors) }
  }

  private func path(to end: Int, from start: Int, _ predecessors: [Int: Int]) -> [Int] {
    var backwards: [Int] = []
    var current = end
    while current != start, let predecessor = predecessors[current] {
      backwards.append(current)
      current = predecessor
    }
    return backwards.reversed()
  }
}
