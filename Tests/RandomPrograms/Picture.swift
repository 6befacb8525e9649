// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The visible state of the operations and queues of a random program while no event is pending.
///
/// The real operations and queues have such a state, the model computes one, and the two must be
/// equal.
struct Picture: Equatable {
  struct OperationView: Equatable {
    var isReady: Bool
    var isExecuting: Bool
    var isFinished: Bool
    var isCancelled: Bool
    var queuePriority: Operation.QueuePriority
    /// The indices of the dependencies; `nil` for an operation that does not belong to the program.
    var dependencies: [Int?]
    /// The state of the operation; `nil` if the state depends on whether a queue has already
    /// evaluated a condition, which is not specified.
    var state: OperationState?
  }

  struct QueueView: Equatable {
    /// The indices of the queue's operations; `nil` for an operation that does not belong to the
    /// program.
    var operations: [Int?]
    var operationCount: Int
    var isSuspended: Bool
    var maxConcurrentOperationCount: Int
    var counts: QueueSnapshot.Counts
  }

  /// The number of times that each operation has run.
  var runCounts: [Int] = []
  /// The state of each operation; `nil` if the program no longer has a reference to the operation.
  var operations: [OperationView?] = []
  /// The state of each queue; `nil` if the queue no longer exists.
  var queues: [QueueView?] = []
}

extension Picture: Describable {
  var facts: [Fact] {
    var facts = Fact.each(runCounts, "runs of", Program.name(ofOperation:))
    for (index, view) in operations.enumerated() {
      let name = Program.name(ofOperation: index)
      guard let view else {
        facts.append(Fact("\(name)", "not held"))
        continue
      }
      facts.append(Fact("\(name).isReady", view.isReady))
      facts.append(Fact("\(name).isExecuting", view.isExecuting))
      facts.append(Fact("\(name).isFinished", view.isFinished))
      facts.append(Fact("\(name).isCancelled", view.isCancelled))
      facts.append(Fact("\(name).queuePriority", view.queuePriority))
      facts.append(Fact("\(name).dependencies", Fact.names(of: view.dependencies)))
      if let state = view.state { facts.append(Fact("\(name).state", state)) }
    }
    for (index, view) in queues.enumerated() {
      let name = Program.name(ofQueue: index)
      guard let view else {
        facts.append(Fact("\(name)", "destroyed"))
        continue
      }
      facts.append(Fact("\(name).operations", Fact.names(of: view.operations)))
      facts.append(Fact("\(name).operationCount", view.operationCount))
      facts.append(Fact("\(name).isSuspended", view.isSuspended))
      facts.append(
        Fact("\(name).maxConcurrentOperationCount", view.maxConcurrentOperationCount))
      facts.append(Fact("the counts of \(name)", view.counts))
    }
    return facts
  }
}
