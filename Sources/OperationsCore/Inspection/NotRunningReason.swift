// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One of the things that keep an operation from starting; see
/// ``OperationSupplement/reasonsNotRunning()``.
public enum NotRunningReason: Sendable, Equatable {
  /// How far positions are counted: this one stands for so many or more.
  public static let positionLimit = 10_000

  /// Nobody has added it to a queue, nor started it.
  case notInQueue

  /// Its queue is suspended, or has the width 0.
  case queueSuspended(QueueReference)

  /// Dependencies have not finished.
  ///
  /// `unmet` are those, in the order in which they were added, and `total` is the number of all.
  /// `chain` leads from the one that looks the slowest to what everything hangs on.
  case unmetDependencies(unmet: [OperationReference], total: Int, chain: DependencyChain)

  /// Its dependencies are met, and its own `isReady` says no, or said so when it was last announced
  /// that it had changed. Where it would say yes by now, that was never announced.
  case notReadyByItself

  /// Its dependencies are met, and it needs an exclusion that `holders` execute with; see
  /// ``OperationSupplement/exclusions``.
  ///
  /// It cannot start before one of the holders has finished. Empty for a moment after that, while its queue
  /// chooses another operation that needs the exclusion too.
  case excluded(MutualExclusion, holders: [OperationReference])

  /// Its dependencies are met, and it needs an exclusion that is kept free for other operations for a limited
  /// time, because these were overtaken several times; see ``OperationSupplement/exclusions``.
  case exclusionReserved(MutualExclusion, for: [OperationReference])

  /// It is ready, and every slot of its queue is taken.
  ///
  /// `width` is the number of slots, `position` how many ready operations would be started before
  /// this one, `holders` are the operations that have the slots, in the order in which they were
  /// added.
  case noFreeSlot(
    QueueReference, width: Int, position: Int, holders: [OperationReference])

  /// It is ready, a slot is free, and no thread has taken it yet.
  ///
  /// Usual for some microseconds. `position` is how many ready operations would be started before
  /// this one; `readyFor` for how long it has been ready, known only where a monitor watched when it
  /// became so.
  case notStartedYet(
    QueueReference, lacks: ThreadSource, position: Int, readyFor: Duration?)

  /// It was added behind a barrier that has not finished; behind `count` of them, of which `barrier`
  /// is the first.
  case barrierAhead(OperationReference, isRunning: Bool, count: Int)

  /// Dependencies are in no queue, and nobody has started them: if nobody does, this one never runs.
  case dependenciesNeverAdded([OperationReference])

  /// Where the thread would have to come from.
  public enum ThreadSource: Sendable, Equatable {
    /// The threads that the process's queues of default width share, about one for each processor.
    case sharedThreads
    /// A thread of the queue's own.
    case ownThread
    /// Its ``OperationQueue/underlyingQueue``.
    case dispatchQueue
    /// The main dispatch queue, which something else may occupy, or nobody serve.
    case mainQueue
  }
}

/// The way from an operation to what holds it up.
public struct DependencyChain: Sendable, Equatable {
  /// The most operations that a chain has.
  public static let longest = 12

  /// Each is an unmet dependency of the one before it, the first one of the operation in question:
  /// of several, the one that looks the slowest. At least one, at most ``longest``.
  public let operations: [OperationReference]
  /// What is the matter with the last of them.
  public let end: End

  /// What is the matter with the last operation of a chain.
  public enum End: Sendable, Equatable {
    /// It is executing.
    case executing
    /// It is ready, in this queue.
    case ready(QueueReference)
    /// It is ready, and this queue is suspended, or has the width 0.
    case suspended(QueueReference)
    /// Its dependencies are met, and its own `isReady` says no.
    case notReadyByItself
    /// Its dependencies are met, and it waits for an exclusion.
    case excluded
    /// It is in no queue, and nobody has started it.
    case neverAdded
    /// It depends on one before it in the chain, or on the operation in question: on this one.
    case cycle(OperationReference)
    /// It has unmet dependencies as well; the chain is too long to be shown to its end.
    case goesOn
  }
}

// MARK: - Sentences

extension NotRunningReason: CustomStringConvertible {
  /// One sentence, without the operation: "it waits for …".
  public var description: String {
    switch self {
    case .notInQueue: return "it is in no queue and was not started"
    case .queueSuspended(let queue): return "its queue \(queue) is suspended"
    case .unmetDependencies(let unmet, let total, let chain):
      return "\(unmet.count) of \(total) dependencies have not finished: it waits for \(chain)"
    case .notReadyByItself: return "its own isReady says no, and its dependencies are met"
    case .excluded(let exclusion, []):
      return
        "it needs the exclusion “\(exclusion)”, and another operation of its queue is chosen first"
    case .exclusionReserved(let exclusion, let operations):
      return
        "it needs the exclusion “\(exclusion)”, which is kept free for \(Self.list(operations))"
    case .excluded(let exclusion, let holders):
      return "\(Self.list(holders)) \(holders.count == 1 ? "has" : "have") the exclusion "
        + "“\(exclusion)”, which it needs too"
    case .noFreeSlot(let queue, let width, let position, let holders):
      let slots = width == 1 ? "its only slot is" : "all \(width) slots are"
      return
        "it is ready, \(Self.place(position, in: queue)), and \(slots) taken by \(Self.list(holders))"
    case .notStartedYet(let queue, let source, let position, let time):
      let since = time.map { " for \($0)" } ?? ""
      return
        "it has been ready\(since), \(Self.place(position, in: queue)), and waits for \(source)"
    case .barrierAhead(let barrier, let isRunning, let count):
      let others = count > 1 ? ", the first of \(count)" : ""
      return
        "the barrier \(barrier) is ahead of it and \(isRunning ? "runs" : "has yet to run")\(others)"
    case .dependenciesNeverAdded(let operations):
      let isOne = operations.count == 1
      return "it waits for \(Self.list(operations)), which \(isOne ? "is" : "are") in no queue and "
        + "\(isOne ? "was" : "were") not started"
    }
  }

  private static func place(_ position: Int, in queue: QueueReference) -> String {
    position < positionLimit
      ? "number \(position + 1) in \(queue)" : "behind \(positionLimit) or more in \(queue)"
  }

  private static func list(_ operations: [OperationReference]) -> String {
    let shown = operations.prefix(3).map(\.description).joined(separator: ", ")
    return operations.count > 3 ? "\(shown) and \(operations.count - 3) more" : shown
  }
}

extension NotRunningReason.ThreadSource: CustomStringConvertible {
  /// What it is called in a sentence.
  public var description: String {
    switch self {
    case .sharedThreads: "one of the threads that queues of default width share"
    case .ownThread: "a thread"
    case .dispatchQueue: "its underlying dispatch queue"
    case .mainQueue: "the main dispatch queue"
    }
  }
}

extension DependencyChain: CustomStringConvertible {
  /// The operations, each after what waits for it, and what is the matter with the last.
  public var description: String {
    operations.map(\.description).joined(separator: " < ") + ", which \(end)"
  }
}

extension DependencyChain.End: CustomStringConvertible {
  /// What the last operation does.
  public var description: String {
    switch self {
    case .executing: "is executing"
    case .ready(let queue): "is ready in \(queue)"
    case .suspended(let queue): "is ready in \(queue), which is suspended"
    case .notReadyByItself: "says by its own isReady that it is not ready"
    case .excluded: "waits for others that exclude it"
    case .neverAdded: "is in no queue and was not started"
    case .cycle(let operation): "waits for \(operation) in turn"
    case .goesOn: "waits for others in turn"
    }
  }
}
