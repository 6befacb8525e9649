// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Operations that wait for each other, so that none of them will ever go on by itself.
public enum Deadlock: Sendable {
  /// Each member waits for the next one, and the last for the first.
  ///
  /// A member waits for what it depends on, for what its own code waits for with
  /// `waitUntilFinished()`, and for the barrier that it is behind; a barrier waits for what is ahead
  /// of it. The way out: cancel a member that has not started, or remove a dependency. A barrier keeps
  /// its place when it is cancelled, and a member that waits in its own code does not look at its
  /// `isCancelled`.
  case cycle([Operation])

  /// Operations take up every slot of a queue, of several at times, and wait in their own code for
  /// operations that need a slot there.
  ///
  /// The way out: raise the queue's `maxConcurrentOperationCount`. Cancelling does not help: what is
  /// cancelled leaves its queue by way of a slot. The remedy is not to wait inside an operation, but
  /// to depend on what is needed.
  case slots([SlotHolder])

  /// Operations wait for one that is in no queue and that nobody has started.
  ///
  /// It is a deadlock unless somebody yet adds or starts it, which cannot be known. `waiting` are
  /// those that wait for it directly, as far as they were come across.
  case neverAdded(Operation, waiting: [Operation])

  /// One of the operations that take up a queue's slots.
  public struct SlotHolder: Sendable {
    /// The operation that has the slot.
    public let operation: Operation
    /// The queue whose slot it has.
    public let queue: OperationQueue
    /// What it waits for in its own code, what that waits for, and so on, to the one that needs a
    /// slot.
    public let chain: [Operation]
    /// The queue that the last one of the chain needs a slot of.
    public let neededQueue: OperationQueue
  }

  /// Those who are part of it: the members of a cycle, the holders of the slots and what they wait
  /// for, or the one that was never added.
  public var operations: [Operation] {
    switch self {
    case .cycle(let members): return members
    case .neverAdded(let operation, _): return [operation]
    case .slots(let holders):
      var seen: Set<ObjectIdentifier> = []
      return (holders.map(\.operation) + holders.flatMap(\.chain)).filter {
        seen.insert(ObjectIdentifier($0)).inserted
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
    case .neverAdded(let operation, let waiting):
      return
        "\(Self.list(waiting.prefix(3), ", "))\(waiting.count > 3 ? " and \(waiting.count - 3) more" : "") "
        + "\(waiting.count == 1 ? "waits" : "wait") for \(OperationReference(operation)), "
        + "which is in no queue and was not started"
    }
  }

  fileprivate static func list(_ operations: some Sequence<Operation>, _ separator: String)
    -> String
  {
    operations.map { OperationReference($0).description }.joined(separator: separator)
  }
}

extension Deadlock.SlotHolder: CustomStringConvertible {
  /// One sentence, with the numbers and names of the operations and the queues.
  public var description: String {
    "\(OperationReference(operation)) has a slot of \(QueueReference(queue)) and waits inside for "
      + "\(Deadlock.list(chain, " -> ")), which needs a slot of \(QueueReference(neededQueue))"
  }
}

extension OperationQueue {
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
  /// only while a subclass's own `isReady` says no. Missed is what this library cannot see: waiting
  /// by a lock, a semaphore or an `await`, on a thread that the operation has made, and that a serial
  /// ``underlyingQueue`` is occupied. What other threads change meanwhile may be missed too. What is
  /// returned was there, all of it at the same moment, unless a dependency was removed and added
  /// again in between.
  ///
  /// Looks at everything that the operations wait for, twice, in time and memory in proportion to
  /// that: for debugging, not for every operation. On any thread; it holds no operation up, and
  /// queues only as ``snapshot()`` does. Nothing of a subclass's is called.
  public final func deadlocks() -> [Deadlock] { DeadlockSearch.deadlocks(in: [self]) }
}

extension QueueRegistry {
  /// As `OperationQueue.deadlocks()`, for all queues together, each deadlock once.
  package static var deadlocks: [Deadlock] { DeadlockSearch.deadlocks(in: queues) }
}
