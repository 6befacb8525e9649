// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Finds the deadlocks in a picture of who waits for what.
struct DeadlockSearch {
  private let picture: WaitPicture

  /// The deadlocks that operations of these queues are part of, or wait for.
  static func deadlocks(in queues: [OperationQueue]) -> [Deadlock] {
    var picture = WaitPicture(of: queues)
    let suspects = DeadlockSearch(picture: picture).all
    if suspects.isEmpty { return [] }
    picture.confirm()
    return DeadlockSearch(picture: picture).all
  }

  private var all: [Deadlock] { cycles + slots + neverAdded }

  // MARK: Kinds

  private var cycles: [Deadlock] {
    var graph = DirectedGraph()
    for wait in picture.waits { graph.appendNode(edgesTo: wait.operations) }
    return graph.disjointCycles().map { .cycle($0.map(reference)) }
  }

  private var slots: [Deadlock] {
    // Most pictures have no full queue, and then there is nothing to find.
    if picture.waits.allSatisfy({ $0.fullQueue == nil }) { return [] }
    var graph = ProgressGraph()
    graph.needs = picture.waits.map {
      ProgressGraph.Needs(tasks: $0.operations, pool: $0.fullQueue)
    }
    graph.pools = picture.slotHolders
    return graph.knots.compactMap { knot in
      let holders = holders(in: knot)
      return holders.isEmpty ? nil : .slots(holders)
    }
  }

  private var neverAdded: [Deadlock] {
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

  /// The members of a knot that have a slot which another member needs.
  private func holders(in knot: [Int]) -> [Deadlock.SlotHolder] {
    let needed = Set(knot.compactMap { picture.waits[$0].fullQueue }).sorted()
    return needed.flatMap { queue in
      picture.slotHolders[queue].compactMap { holder in
        guard let chain = chain(from: holder), let last = chain.last,
          let neededQueue = picture.waits[last].fullQueue
        else { return nil }
        return Deadlock.SlotHolder(
          operation: reference(holder), queue: QueueReference(picture.queues[queue]),
          chain: chain.map(reference), neededQueue: QueueReference(picture.queues[neededQueue]))
      }
    }
  }

  /// The shortest way from what an operation waits for to one that needs a slot; if there is one, to
  /// one that needs nothing else.
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
        if picture.waits[current].operations.isEmpty {
          return path(to: current, from: holder, predecessors)
        }
      }
      for target in picture.waits[current].operations
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
