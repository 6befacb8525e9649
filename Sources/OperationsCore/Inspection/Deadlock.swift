// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Operations that wait for each other, so that none of them will ever go on by itself.
///
/// Operations and queues are named by their ids and their names at that moment: a result keeps none of them
/// alive. Compare a reference's `id` with that of an operation to act on it.
public enum Deadlock: Sendable, Hashable {
  /// Each member waits for the next one, and the last for the first.
  ///
  /// A member waits for what it depends on, for what its own code waits for with
  /// `waitUntilFinished()`, and for the barrier that it is behind; a barrier waits for what is ahead
  /// of it; a ``GroupOperation`` waits for its members, and they for its start; a ``RetryOperation`` and a
  /// ``TimeoutOperation`` wait for the operation that they perform. A member that needs an exclusion waits
  /// for an operation that has it; if several have it, all of them wait for that member, directly or
  /// through others. The way out: cancel a member that has not started, or remove a dependency. A barrier keeps its place when it is cancelled, and a member that waits in its own code
  /// does not look at its `isCancelled`.
  case cycle([OperationReference])

  /// Operations take up every slot of a queue, of several at times, and wait in their own code for
  /// operations that need a slot there.
  ///
  /// The way out: raise the queue's `maxConcurrentOperationCount`. Cancelling does not help: what is
  /// cancelled leaves its queue by way of a slot. The remedy is not to wait inside an operation, but
  /// to depend on what is needed.
  case slots([SlotHolder])

  /// Operations wait for one that is in no queue and was not started.
  ///
  /// It is a deadlock unless the operation is added or started later, which cannot be known. `className` is
  /// the name of its class. `waiting` are those that wait for it directly, as far as they were found.
  case neverAdded(OperationReference, className: String, waiting: [OperationReference])

  /// One of the operations that take up a queue's slots.
  public struct SlotHolder: Sendable, Hashable {
    /// The operation that has the slot.
    public let operation: OperationReference
    /// The queue whose slot it has.
    public let queue: QueueReference
    /// What it waits for in its own code, what that waits for, and so on, to the one that needs a
    /// slot.
    public let chain: [OperationReference]
    /// The queue that the last one of the chain needs a slot of.
    public let neededQueue: QueueReference
  }

  /// The operations that are part of it: the members of a cycle, the holders of the slots and what they wait
  /// for, or the one that was never added.
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

extension Deadlock: CustomStringConvertible {
  /// One sentence, with the numbers and names of the operations.
  public var description: String {
    switch self {
    case .cycle(let members):
      let closed = members + members.prefix(1)
      return "\(members.count) operations wait for each other: \(Self.list(closed, " -> "))"
    case .slots(let holders):
      return holders.map(\.description).joined(separator: "; ")
    case .neverAdded(let operation, _, let waiting):
      return
        "\(Self.list(waiting.prefix(3), ", "))\(waiting.count > 3 ? " and \(waiting.count - 3) more" : "") "
        + "\(waiting.count == 1 ? "waits" : "wait") for \(operation), "
        + "which is in no queue and was not started"
    }
  }

  fileprivate static func list(
    _ operations: some Sequence<OperationReference>, _ separator: String
  ) -> String {
    operations.map(\.description).joined(separator: separator)
  }
}

extension Deadlock.SlotHolder: CustomStringConvertible {
  /// One sentence, with the numbers and names of the operations and the queues.
  public var description: String {
    "\(operation) has a slot of \(queue) and waits inside for "
      + "\(Deadlock.list(chain, " -> ")), which needs a slot of \(neededQueue)"
  }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// What keeps operations of this queue from ever going on; empty where nothing does.
  ///
  /// Three kinds are found: cycles, queues whose slots are all taken by operations that wait in their
  /// own code for ones that need a slot, and operations that nobody has added to a queue. Members may
  /// be in other queues or in none.
  ///
  /// No operation is in two of the cycles: where several have a member in common, at least one of
  /// these is told. Where one deadlock hangs on another, of slots the one at the bottom is told. When
  /// that is broken, another call tells what is left.
  ///
  /// Suspension, and a width of 0, are no deadlocks, for somebody may end them; nor is what is true
  /// only while a subclass's own `isReady` says no. A group that was started holds up what waits for it as
  /// long as a member has not started; that is a deadlock only if the member waits for one of these
  /// things. This library cannot see that an operation waits by a lock, a semaphore or an `await`, or on a
  /// thread that the operation has made, that a serial ``OperationQueue/underlyingQueue`` is occupied, and
  /// that an operation has started another one by hand and is inside its `start()`: unless that one waits
  /// by `waitUntilFinished()`, on which both operations are taken to wait. What other threads change meanwhile may be missed
  /// too. What is returned was there, all of it at the same moment, unless a dependency was removed and
  /// added again in between.
  ///
  /// Looks at everything that the operations wait for, twice, in time and memory in proportion to
  /// that: for debugging, not for every operation. On any thread; it holds no operation up, and
  /// queues only as ``snapshot()`` does. Nothing of a subclass's is called.
  public func deadlocks() -> [Deadlock] { DeadlockSearch.deadlocks(in: [self]) }
}

extension QueueRegistry {
  /// As `OperationQueue.deadlocks()`, for all queues together, each deadlock once.
  package static var deadlocks: [Deadlock] { DeadlockSearch.deadlocks(in: queues) }
}
