// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Operations that wait for each other, so that none of them can continue unless the program
/// intervenes.
///
/// A deadlock identifies operations and queues by their ids and by the names that they had at the time of the
/// search. It does not keep them alive. To act on an operation, compare the `id` of a reference with the
/// operation's.
@nonexhaustive
public enum OperationDeadlock: Sendable, Hashable {
  /// Each member waits for the next member, and the last member waits for the first.
  ///
  /// A member waits for its dependencies, for operations that its own code waits for with
  /// `waitUntilFinished()` or `await`, and for the barrier that is before it. A barrier waits for everything
  /// before it. A ``GroupOperation`` waits for its members, and the members wait for its start. A
  /// ``RetryOperation`` and a ``TimeoutOperation`` wait for the operation that they perform. A
  /// member that needs an exclusion waits for an operation that holds it. If several operations
  /// hold it, all of them wait for that member, directly or through others. To end the deadlock,
  /// cancel a member that has not started, or remove a dependency. Cancelling a barrier does not
  /// help, because it keeps its place, and a member that blocks a thread in its own code does not check
  /// its `isCancelled`. Cancelling a member that awaits ends its wait.
  case cycle([OperationReference])

  /// Operations hold every slot of one or more queues, and wait in their own code for operations that need a
  /// slot of these queues.
  ///
  /// To end the deadlock, raise the queue's `maxConcurrentOperationCount`. If an operation that
  /// holds a slot awaits another one, you can also cancel it. Cancelling other operations does not
  /// help, because a cancelled operation needs a slot to leave its queue. To avoid it, do not wait
  /// inside an operation. Add a dependency instead.
  case slots([SlotHolder])

  /// Operations wait for an operation that is not in a queue and was not started.
  ///
  /// This is a deadlock unless the program adds or starts the operation later, which the library cannot know.
  /// `className` is the name of the operation's class. `waiting` contains the operations that wait for it
  /// directly, as far as the search has found them.
  case neverAdded(OperationReference, className: String, waiting: [OperationReference])

  /// An operation that holds one of a queue's slots.
  public struct SlotHolder: Sendable, Hashable {
    /// The operation that holds a slot of the queue.
    public let operation: OperationReference
    /// The queue whose slot the operation holds.
    public let queue: QueueReference
    /// The chain of waiting operations. The holder waits for the first operation of the chain in its own
    /// code, each operation of the chain waits for the next one, and the last one needs a slot.
    public let chain: [OperationReference]
    /// The queue in which the last operation of the chain needs a slot.
    public let neededQueue: QueueReference
  }

  /// The operations of the deadlock: the members of a cycle, the holders of the slots and their
  /// chains, or the operation that was never added.
  public var operations: [OperationReference] {
    switch self {
    case .cycle(let members): return members
    case .neverAdded(let operation, _, _): return [operation]
    case .slots(let holders):
      var seen: Set<OperationID> = []
      return (holders.map(\.operation) + holders.flatMap(\.chain)).filter {
        seen.insert($0.id).inserted
      }
    }
  }
}

extension OperationDeadlock: CustomStringConvertible {
  /// The deadlock as one sentence, with the numbers and names of its operations.
  public var description: String {
    switch self {
    case .cycle(let members):
      let closed = members + members.prefix(1)
      return "\(members.count) operations wait for each other: \(Self.list(closed, " -> "))"
    case .slots(let holders):
      return holders.map(\.description).joined(separator: "; ")
    case .neverAdded(let operation, _, []):
      return "a task waits for \(operation), which is not in a queue and was not started"
    case .neverAdded(let operation, _, let waiting):
      return
        "\(Self.list(waiting.prefix(3), ", "))\(waiting.count > 3 ? " and \(waiting.count - 3) more" : "") "
        + "\(waiting.count == 1 ? "waits" : "wait") for \(operation), "
        + "which is not in a queue and was not started"
    }
  }

  fileprivate static func list(
    _ operations: some Sequence<OperationReference>, _ separator: String
  ) -> String {
    operations.map(\.description).joined(separator: separator)
  }
}

extension OperationDeadlock.SlotHolder: CustomStringConvertible {
  /// The holder and its chain as one sentence, with the numbers and names of the operations and the queues.
  public var description: String {
    "\(operation) holds a slot of \(queue) and waits in its code for "
      + "\(OperationDeadlock.list(chain, " -> ")), which needs a slot of \(neededQueue)"
  }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Returns the deadlocks that keep operations of this queue from continuing. The array is empty if no
  /// deadlock is found.
  ///
  /// Three kinds are found: cycles, queues whose slots are all held by operations that wait in
  /// their own code for operations that need a slot, and operations that were never added to a
  /// queue. A deadlock can contain operations of other queues, and operations without a queue.
  ///
  /// The reported cycles have no common members: if several cycles have a common member, at least one of
  /// them is reported. If a deadlock of slots depends on a second deadlock of slots, only the second one
  /// is reported. After the program has ended the reported deadlock, another call of this method reports
  /// the first one.
  ///
  /// Suspension and a width of 0 are not deadlocks, because the program can end them. A condition
  /// that is true only while a subclass's own `isReady` is `false` is not a deadlock either. A
  /// started group blocks its dependents while a member has not started. This is not a deadlock if
  /// the member waits only for one of these conditions. An `await` of an operation or of a queue counts
  /// as a wait of an ``AsyncOperation`` if it is in the operation's own task, and not in a child task.
  /// This library cannot detect that an operation waits with a lock, with a semaphore or with another
  /// `await`, or on a thread that the operation has created; that a serial ``OperationQueue/underlyingQueue`` is busy; or that an operation has
  /// started another one directly and is inside its `start()`, unless the inner one waits with
  /// `waitUntilFinished()`: both operations then count as waiting. Concurrent changes may be missed
  /// too. A returned deadlock existed completely at one moment, unless a dependency was removed and
  /// added again in between.
  ///
  /// The search examines everything that the operations wait for, twice. Its time and memory are proportional
  /// to the number of these operations and dependencies. Use it for debugging, not for every operation. It
  /// can be called on any thread, does not delay operations, and delays queues only as ``snapshot()`` does.
  /// It calls no code of a subclass. If an operation finishes during the search, the `deinit` of the operation
  /// runs on a thread of the library.
  public func deadlocks() -> [OperationDeadlock] { DeadlockSearch.deadlocks(in: [self]) }
}

extension QueueRegistry {
  /// The deadlocks of all queues, and the operations that tasks wait for although no queue contains them. Each
  /// one is listed once. See `OperationQueue.deadlocks()`.
  package static var deadlocks: [OperationDeadlock] {
    let found = DeadlockSearch.deadlocks(in: queues)
    let awaited = UnaddedAwait.operations
    if awaited.isEmpty { return found }
    let known = Set(found.flatMap(\.operations))
    let others: [OperationDeadlock] = awaited.compactMap { operation in
      let reference = OperationReference(operation)
      if known.contains(reference) { return nil }
      return .neverAdded(
        reference, className: String(describing: type(of: operation)), waiting: [])
    }
    // The waits may have ended, so these may be the last references.
    ReleaseList.releaseElsewhere(consume awaited)
    return found + others
  }
}

extension OperationSupplement where Self: Operation {
  /// Returns a cycle of dependencies that keeps this operation from starting; `nil` if there is no such
  /// cycle.
  ///
  /// Each member waits for the next one, and the last one waits for the first. No member will start unless
  /// one is cancelled or a dependency is removed. If the operation itself is in a cycle, the result is a
  /// shortest cycle that begins with this operation. Otherwise, the result is a cycle that this operation
  /// waits for, directly or through others. Members can be in any queue, or in none. An operation that was
  /// never added to a queue is not a cycle, although its dependents wait too.
  ///
  /// The search examines everything that the operation waits for. Its time and memory are proportional to the
  /// number of these operations and dependencies. Use it for debugging, not for every operation. It can be
  /// called on any thread, and delays nothing. Concurrent changes may be missed, but a returned cycle did
  /// exist.
  public func dependencyCycle() -> [Operation]? {
    DeadlockSearch.dependencyCycle(from: self)
  }
}
