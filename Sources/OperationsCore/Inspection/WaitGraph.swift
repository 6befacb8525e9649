// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Which operations wait for which to finish, as it was while it was read.
///
/// One operation's lock is held at a time, so that the parts are of different moments; a cycle is
/// looked at again before it is believed.
struct WaitGraph {
  /// The node `n` of the graph is the operation number `n`; the roots come first.
  private var operations: [Operation] = []
  private var graph = DirectedGraph()

  /// Reads what the roots wait for, directly and through others.
  init(from roots: [Operation]) {
    var nodes: [ObjectIdentifier: Int] = [:]
    for root in roots { note(root, in: &nodes) }
    while graph.nodeCount < operations.count {
      let dependencies = operations[graph.nodeCount].dependenciesInTheWay
      graph.appendNode(edgesTo: dependencies.map { note($0, in: &nodes) })
    }
  }

  @discardableResult
  private mutating func note(_ operation: Operation, in nodes: inout [ObjectIdentifier: Int]) -> Int
  {
    let id = ObjectIdentifier(operation)
    if let known = nodes[id] { return known }
    nodes[id] = operations.count
    operations.append(operation)
    return operations.count - 1
  }

  /// A shortest cycle through the first root, beginning with it.
  var cycleThroughFirstRoot: [Operation]? {
    guard let nodes = graph.shortestCycle(through: 0) else { return nil }
    return intact(nodes)
  }

  /// Cycles without a common member, at least one out of each knot of operations that all wait for
  /// each other.
  var cycles: [[Operation]] { graph.disjointCycles().compactMap(intact) }

  /// The cycle, if all of it is still there.
  ///
  /// What was there on the first look and is there on this one was there in between, at one and the
  /// same moment for all of it: an operation that has left off waiting does not begin again, and
  /// one that has finished stays so. (A dependency that was removed and added again in the meantime
  /// escapes; whoever does that has the cycle that is told.)
  private func intact(_ nodes: [Int]) -> [Operation]? {
    let cycle = nodes.map { operations[$0] }
    let followers = cycle.dropFirst() + cycle.prefix(1)
    let isIntact = zip(cycle, followers).allSatisfy { operation, follower in
      operation.dependenciesInTheWay.contains { $0 === follower }
    }
    return isIntact ? cycle : nil
  }
}

extension Operation {
  /// The dependencies that keep it from starting; none where it waits for nothing.
  final var dependenciesInTheWay: [Operation] {
    guard status.load(ordering: .acquiring).isHeldUpByDependencies else { return [] }
    return listedDependencies.filter { !$0.status.load(ordering: .acquiring).isFinished }
  }
}

extension OperationStatus {
  /// Whether it will not start before dependencies have finished, whatever else happens.
  var isHeldUpByDependencies: Bool {
    unmetDependencyCount > 0 && isPending && !isCancelled && !has(.dispatched) && !has(.selfReady)
  }
}

// MARK: - Public

extension OperationSupplement where Self: Operation {
  /// A cycle of dependencies that keeps this operation from starting; `nil` where there is none.
  ///
  /// Each of its members waits for the next one, and the last for the first: none of them will start
  /// unless one is cancelled or a dependency is removed. It begins with this operation, and is a
  /// shortest one, where there is such a cycle; else it is one that this operation waits for,
  /// directly or through others. Members may be in any queue, or in none. An operation that nobody
  /// has added to a queue is no cycle, though what depends on it waits as well.
  ///
  /// Looks at everything that the operation waits for, in time and memory proportional to that: for
  /// debugging, not for every operation. On any thread; it holds nothing up. What other threads
  /// change meanwhile may be missed; a cycle that is returned was there.
  public func dependencyCycle() -> [Operation]? {
    let graph = WaitGraph(from: [self])
    return graph.cycleThroughFirstRoot ?? graph.cycles.first
  }
}

extension Operation {
  /// The queue that has it; `nil` where it is in none, or has left it.
  ///
  /// For whoever does not work for the queue and so cannot rely on its being there.
  final var queueHoldingIt: OperationQueue? {
    guard let core = enqueuedQueue, let queue = QueueRegistry.queue(at: core) else { return nil }
    // It may have left in the meantime, its queue be gone and another one be at that address. As long
    // as it is not retired its queue is there, and then this is it.
    return status.load(ordering: .sequentiallyConsistent).has(.retired) ? nil : queue
  }
}
