// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// How far a waiting task has raised an operation.
struct PriorityEscalation {
  /// The highest priority of the tasks that wait or have waited for the operation.
  var task: TaskPriority
  /// The priority that the operation would have in its queue if no task had waited for it.
  var base: Operation.QueuePriority

  /// The priority of the operation in its queue.
  var queuePriority: Operation.QueuePriority { base.orHigher(Operation.QueuePriority(of: task)) }
}

extension Operation.QueuePriority {
  /// Returns the higher one of two priorities.
  func orHigher(_ other: Self) -> Self { other.rawValue > rawValue ? other : self }

  /// Creates the priority that an operation gets in its queue if a task of this priority waits for it.
  init(of task: TaskPriority) {
    if task > .userInitiated {
      self = .veryHigh
    } else if task >= .high {
      self = .high
    } else if task >= .medium {
      self = .normal
    } else {
      self = task >= .low ? .low : .veryLow
    }
  }
}

extension Operation {
  /// The maximum number of operations that one wait raises.
  private static let escalationLimit = 10_000

  /// Raises this operation, and the unfinished operations that it waits for, to the priority of a waiting
  /// task. Operations that have this priority already do not change, and nor do the operations that they wait
  /// for. No priority is lowered.
  ///
  /// Must not be called by a handler of the Swift runtime, which holds the lock of a task, because an operation
  /// may be released.
  final func escalate(to priority: TaskPriority) {
    guard escalateAlone(to: priority) else { return }
    var next: [Operation] = [self]
    var index = 0
    while index < next.count, next.count < Self.escalationLimit {
      let awaited = next[index].listedDependencies + next[index].innerOperations
      for operation in awaited where operation.escalateAlone(to: priority) {
        next.append(operation)
      }
      index += 1
    }
  }

  /// Raises this operation to the priority of a waiting task.
  ///
  /// - Returns: Whether the operation has not finished and had a lower priority.
  private final func escalateAlone(to priority: TaskPriority) -> Bool {
    let status = status.load(ordering: .acquiring)
    if status.isFinished { return false }
    let isRaised = QueuePriority(of: priority).index < status.priorityIndex
    guard isRaised || raisesTask(to: priority) else { return false }
    let isHigher = makeRare { rare in
      let old = rare.escalation
      if let old, old.task >= priority { return false }
      rare.escalation = PriorityEscalation(task: priority, base: old?.base ?? basePriorityLocked)
      return true
    }
    guard isHigher else { return false }
    applyEscalation()
    escalateTask(to: priority)
    return true
  }

  private final var basePriorityLocked: QueuePriority {
    QueuePriority(index: status.load(ordering: .acquiring).priorityIndex)
  }

  /// Stores the priority that the operation would have without a waiting task, if a waiting task has raised the
  /// operation.
  ///
  /// If the caller has changed the priority before the call, and the result is `false`, a task that raises the
  /// operation at the same time sees this change. So the read of `extra` is sequentially consistent, and the
  /// escalation is read under the lock.
  ///
  /// - Returns: Whether a waiting task has raised the operation.
  final func setPriorityBeforeEscalation(_ base: QueuePriority) -> Bool {
    guard extra.load(ordering: .sequentiallyConsistent).isRare else { return false }
    return withRare { rare in
      guard rare?.escalation != nil else { return false }
      rare?.escalation?.base = base
      return true
    }
  }

  /// Sets the priority that follows from the escalation. Repeats this until no other thread has changed the
  /// escalation in the meantime, so that the last change always counts.
  ///
  /// - Precondition: A waiting task has raised the operation.
  final func applyEscalation() {
    var applied: QueuePriority?
    while let known = withRare({ $0?.escalation?.queuePriority }), known != applied {
      applyPriority(known)
      applied = known
    }
  }

  /// The priority without a waiting task that has raised it.
  final var priorityBeforeEscalation: QueuePriority? {
    guard let rare, rare.mayHaveEscalation else { return nil }
    return withRare { $0?.escalation?.base }
  }

  /// The highest priority of the tasks that have raised the operation; `nil` if none has.
  final var escalatedTaskPriority: TaskPriority? {
    guard let rare, rare.mayHaveEscalation else { return nil }
    return withRare { $0?.escalation?.task }
  }

  /// Calls `wait`, in which the current task waits for this operation. The operation gets at least the
  /// priority of the task at the beginning of the wait, and whenever the task is escalated during the wait.
  final func escalating<Result>(_ wait: () async -> Result) async -> Result {
    await withTaskPriorityEscalationHandler {
      // The priority is read when the handler is in place, so that no escalation is lost.
      escalate(to: Task.currentPriority)
      return await wait()
    } onPriorityEscalated: { _, new in
      // The runtime calls this handler while it holds the lock of the waiting task.
      OperationQueue.duties.addOperation { self.escalate(to: new) }
    }
  }
}
