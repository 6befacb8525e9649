// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A reason why an operation does not start; see ``OperationSupplement/reasonsNotRunning()``.
@nonexhaustive
public enum NotRunningReason: Sendable, Equatable {
  /// The largest position in a queue that is counted. If a position has this value, the real
  /// position may be greater.
  static let positionLimit = 10_000

  /// The operation was neither added to a queue nor started.
  case notInQueue

  /// The operation's queue is suspended, or has the width 0.
  case queueSuspended(QueueReference)

  /// Dependencies of the operation have not finished.
  ///
  /// `unmet` contains the unfinished dependencies, in the order in which they were added. `total` is the
  /// number of all dependencies. `chain` leads from the unfinished dependency that looks slowest to the
  /// operation that blocks all of the chain.
  case unmetDependencies(unmet: [OperationReference], total: Int, chain: OperationDependencyChain)

  /// The operation was added with a delay that has not ended. `timeLeft` is the time until its end.
  case delayed(timeLeft: Duration)

  /// The operation's dependencies are finished, and its own `isReady` is `false`, or was `false` when a
  /// change of `isReady` was last announced. If `isReady` is `true` by now, the change was never announced.
  case notReadyByItself

  /// The operation's dependencies are finished, and the operation needs an exclusion that `holders` execute
  /// with; see ``OperationSupplement/exclusions``.
  ///
  /// The operation cannot start before one of the holders has finished. `holders` is empty for a moment after
  /// that, while the queue chooses another operation that also needs the exclusion.
  case excluded(MutualExclusion, holders: [OperationReference])

  /// The operation's dependencies are finished, and the operation needs an exclusion that is reserved for
  /// other operations for a limited time, because these were overtaken several times; see
  /// ``OperationSupplement/exclusions``.
  case exclusionReserved(MutualExclusion, for: [OperationReference])

  /// The operation is ready, and every slot of its queue is in use.
  ///
  /// `width` is the number of slots, `position` is the number of ready operations that start before
  /// this one, and `holders` are the operations that hold the slots, in the order in which they
  /// were added.
  case noFreeSlot(
    QueueReference, width: Int, position: Int, holders: [OperationReference])

  /// The operation is ready and a slot is free, but the queue has started as many operations in the last
  /// period as its ``OperationQueueSupplement/startLimit`` allows.
  ///
  /// `position` is the number of ready operations that start before this one. `nextStartIn` is the time until
  /// the queue may start the next operation. It is `nil` for a moment after an operation was chosen.
  case startLimitReached(
    QueueReference, limit: OperationStartLimit, position: Int, nextStartIn: Duration?)

  /// The operation is ready and a slot is free, but no thread has started the operation yet.
  ///
  /// A ready operation usually waits for some microseconds until a thread starts it. `position` is the number
  /// of ready operations that start before this one. `readyFor` is the time since the operation became ready.
  /// This time is known only if a monitor watched the queue when the operation became ready.
  case notStartedYet(
    QueueReference, lacks: ThreadSource, position: Int, readyFor: Duration?)

  /// The operation was added after barriers that have not finished. `count` is the number of these barriers,
  /// and `barrier` is the first one.
  case barrierAhead(OperationReference, isRunning: Bool, count: Int)

  /// Dependencies of the operation are not in a queue and were not started. The operation never runs unless
  /// these dependencies are added to a queue or started.
  case dependenciesNeverAdded([OperationReference])

  /// The source of the thread that the operation waits for.
  @nonexhaustive
  public enum ThreadSource: Sendable, Equatable {
    /// The threads that the process's queues of default width share, about one per processor.
    case sharedThreads
    /// A thread that serves only the operation's queue.
    case ownThread
    /// A thread of the ``OperationQueue/underlyingQueue`` of the operation's queue.
    case dispatchQueue
    /// The thread that serves the main dispatch queue. Other code may occupy that queue, or no
    /// thread may serve it.
    case mainQueue
    /// The test that starts the operations of the queue by hand.
    case test
  }
}

/// The chain of dependencies from an operation to the operation that blocks it.
public struct OperationDependencyChain: Sendable, Equatable {
  /// The maximum number of operations in a chain.
  static let longest = 12

  /// The operations of the chain. Each operation is an unmet dependency of the previous one, and the first
  /// one is a dependency of the operation that waits. If an operation has several unmet dependencies, the
  /// chain continues with the one that looks slowest. The chain has at least one operation and at most
  /// 12.
  public let operations: [OperationReference]
  /// The state of the last operation of the chain.
  public let end: End

  /// The state of the last operation of a chain.
  @nonexhaustive
  public enum End: Sendable, Equatable {
    /// The last operation of the chain is executing.
    case executing
    /// The last operation of the chain is ready and is in this queue.
    case ready(QueueReference)
    /// The last operation of the chain is ready, but this queue is suspended or has the width 0.
    case suspended(QueueReference)
    /// The last operation of the chain waits for the end of its delay. `timeLeft` is the time until then.
    case delayed(timeLeft: Duration)
    /// The dependencies of the chain's last operation are finished, but its own `isReady` is
    /// `false`.
    case notReadyByItself
    /// The dependencies of the chain's last operation are finished, and it waits for an exclusion.
    case excluded
    /// The last operation of the chain is not in a queue and was not started.
    case neverAdded
    /// The last operation of the chain depends on this operation, which is an earlier operation of
    /// the chain or the operation from which the chain starts.
    case cycle(OperationReference)
    /// The last operation of the chain has unmet dependencies too, but the chain has reached its
    /// maximum length.
    case goesOn
  }
}

// MARK: - Sentences

extension NotRunningReason: CustomStringConvertible {
  /// The reason as one sentence, in which the operation is called "it": "it waits for …".
  public var description: String {
    switch self {
    case .notInQueue: return "it is not in a queue and was not started"
    case .queueSuspended(let queue): return "its queue \(queue) is suspended"
    case .unmetDependencies(let unmet, let total, let chain):
      return "\(unmet.count) of \(total) dependencies have not finished: it waits for \(chain)"
    case .delayed(let timeLeft): return "it waits for its delay: \(timeLeft.inWords) are left"
    case .notReadyByItself: return "its own isReady is false, although its dependencies are met"
    case .excluded(let exclusion, []):
      return
        "it needs the exclusion “\(exclusion)”, and another operation of its queue takes precedence"
    case .exclusionReserved(let exclusion, let operations):
      return
        "it needs the exclusion “\(exclusion)”, which is reserved for \(Self.list(operations))"
    case .excluded(let exclusion, let holders):
      return "it needs the exclusion “\(exclusion)”, which \(Self.list(holders)) "
        + "\(holders.count == 1 ? "holds" : "hold")"
    case .noFreeSlot(let queue, let width, let position, let holders):
      let slots = width == 1 ? "its only slot is" : "all \(width) slots are"
      return
        "it is ready, \(Self.place(position, in: queue)), and \(slots) used by \(Self.list(holders))"
    case .startLimitReached(let queue, let limit, let position, let time):
      let next = time.map { ": the next start is possible in \($0.inWords)" } ?? ""
      return
        "it is ready, \(Self.place(position, in: queue)), and the limit of starts (\(limit)) is reached\(next)"
    case .notStartedYet(let queue, let source, let position, let time):
      let since = time.map { " for \($0)" } ?? ""
      return
        "it has been ready\(since), \(Self.place(position, in: queue)), and waits for \(source)"
    case .barrierAhead(let barrier, let isRunning, let count):
      let others = count > 1 ? " (the first of \(count) barriers)" : ""
      return
        "it waits for the barrier \(barrier), which \(isRunning ? "executes" : "has not started")\(others)"
    case .dependenciesNeverAdded(let operations):
      let isOne = operations.count == 1
      return "it waits for \(Self.list(operations)), which \(isOne ? "is" : "are") not in a queue "
        + "and \(isOne ? "was" : "were") not started"
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
  /// The words for the source of the thread that the operation waits for, as a part of a sentence.
  public var description: String {
    switch self {
    case .sharedThreads: "one of the threads that queues of default width share"
    case .ownThread: "a thread"
    case .dispatchQueue: "its underlying dispatch queue"
    case .mainQueue: "the main dispatch queue"
    case .test: "a step of its test"
    }
  }
}

extension OperationDependencyChain: CustomStringConvertible {
  /// The chain as text: the operations, each after the operation that waits for it, and the state of the last
  /// one.
  public var description: String {
    operations.map(\.description).joined(separator: ", which waits for ") + ", which \(end)"
  }
}

extension OperationDependencyChain.End: CustomStringConvertible {
  /// The state of the last operation of a chain in words.
  public var description: String {
    switch self {
    case .executing: "is executing"
    case .ready(let queue): "is ready in \(queue)"
    case .suspended(let queue): "is ready in \(queue), which is suspended"
    case .delayed(let timeLeft): "waits for its delay (\(timeLeft.inWords) left)"
    case .notReadyByItself: "is not ready (its own isReady is false)"
    case .excluded: "waits for operations with a common exclusion"
    case .neverAdded: "is not in a queue and was not started"
    case .cycle(let operation): "waits for \(operation)"
    case .goesOn: "waits for other operations"
    }
  }
}
