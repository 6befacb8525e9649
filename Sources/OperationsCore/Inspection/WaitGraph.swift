// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The graph of waiting operations, as it was while it was read.
///
/// Only one operation's lock is held at a time, so the parts are from different moments. A cycle is
/// therefore checked again before it is reported.
struct WaitGraph {
  /// Node `n` of the graph is operation number `n`. The roots come first.
  private var operations: [Operation] = []
  private var graph = DirectedGraph()

  /// Reads the operations that the roots wait for, directly and through others.
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

  /// Returns a shortest cycle through the first root, beginning with it.
  var cycleThroughFirstRoot: [Operation]? {
    guard let nodes = graph.shortestCycle(through: 0) else { return nil }
    return intact(nodes)
  }

  /// Returns cycles without a common member, at least one from each knot of operations that all
  /// wait for each other.
  var cycles: [[Operation]] { graph.disjointCycles().compactMap(intact) }

  /// Returns the cycle if it still exists completely.
  ///
  /// If all parts existed in both readings, they existed together at one moment in between: an
  /// operation that has stopped waiting does not begin again, and a finished operation stays
  /// finished. (A dependency that was removed and added again meanwhile is not detected. In that
  /// case the caller has created the reported cycle.)
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
  /// The dependencies that keep it from starting; none if it does not wait.
  final var dependenciesInTheWay: [Operation] {
    guard status.load(ordering: .acquiring).isHeldUpByDependencies else { return [] }
    return listedDependencies.filter { !$0.status.load(ordering: .acquiring).isFinished }
  }
}

extension OperationStatus {
  /// Whether it cannot start before dependencies have finished, whatever else happens.
  var isHeldUpByDependencies: Bool {
    unmetDependencyCount > 0 && isPending && !isCancelled && !has(.dispatched) && !has(.selfReady)
  }
}

// MARK: - Public

extension OperationSupplement where Self: Operation {
  /// Returns a cycle of dependencies that keeps this operation from starting; `nil` if there is
  /// none.
  ///
  /// Each member waits for the next one, and the last one for the first: none of them will start
  /// unless one is cancelled or a dependency is removed. If the operation itself is in a cycle, the
  /// result is a shortest one that begins with it. Otherwise, it is a cycle that this operation
  /// waits for, directly or through others. Members can be in any queue, or in none. An operation
  /// that was never added to a queue is not a cycle, although its dependents wait too.
  ///
  /// The search examines everything that the operation waits for, in time and memory proportional
  /// to that. Use it for debugging, not for every operation. It can be called on any thread, and
  /// delays nothing. Concurrent changes may be missed, but a returned cycle did exist.
  public func dependencyCycle() -> [Operation]? {
    let graph = WaitGraph(from: [self])
    return graph.cycleThroughFirstRoot ?? graph.cycles.first
  }
}

extension Operation {
  /// Returns the queue that has the operation; `nil` if it is in none, or has left it.
  ///
  /// For callers that do not work for the queue, and so cannot rely on its existence.
  final var queueHoldingIt: OperationQueue? {
    guard let core = enqueuedQueue, let queue = QueueRegistry.queue(at: core) else { return nil }
    // The operation may have left meanwhile, its queue may be gone, and another queue may have that
    // address. If the operation is not retired, its queue exists, and is this one.
    return status.load(ordering: .sequentiallyConsistent).has(.retired) ? nil : queue
  }
}
