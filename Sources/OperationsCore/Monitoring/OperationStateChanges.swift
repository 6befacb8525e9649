// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// The state changes of a queue's operations, as they happen. See
/// ``OperationQueueSupplement/stateChanges(bufferingOldest:)``.
public struct OperationStateChanges: AsyncSequence, Sendable {
  /// One step of one operation.
  public typealias Element = OperationStateChange

  /// Nothing fails.
  public typealias Failure = Never

  let subscription: StateChangeSubscription

  /// Takes changes one by one. Several iterators share what there is between them.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

  /// Takes changes one by one.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: StateChangeSubscription
    private var taken: ArraySlice<OperationStateChange> = []

    init(subscription: StateChangeSubscription) { self.subscription = subscription }

    /// Waits for the next change. `nil` once the task is cancelled.
    public mutating func next() async -> OperationStateChange? {
      while taken.isEmpty {
        if Task.isCancelled { return nil }
        taken = ArraySlice(subscription.takeChanges())
        if taken.isEmpty { await subscription.waitForChanges() }
      }
      return taken.popFirst()
    }
  }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Subscribes to the states of this queue's operations: one value for each step of each
  /// operation, in the order in which the queue took note of them.
  ///
  /// Subscribed from this call on, until the sequence and its iterators are released; the queue
  /// stays alive for as long. Steps from before are not told. Values only: watching does not extend
  /// the life of an operation.
  ///
  /// - Parameter capacity: How many changes are kept for a subscriber that is late. What comes on
  ///   top of them is lost, and the first change after the gap says how many were: its `lost`.
  /// - Returns: A sequence that ends only with the task that reads it.
  public func stateChanges(
    bufferingOldest capacity: Int = 8_192
  ) -> OperationStateChanges {
    OperationStateChanges(
      subscription: StateChangeSubscription(queue: self, capacity: max(1, capacity)))
  }
}

/// One subscriber: ends its subscription when it is released.
final class StateChangeSubscription: Sendable {
  private struct Waiting {
    /// Several, where several tasks read.
    var continuations: [CheckedContinuation<Void, Never>] = []
    var hasNews = false
  }

  private static let lastID = Atomic<UInt64>(0)

  private let queue: OperationQueue
  private let id: UInt64
  private let waiting: Locked<Waiting>

  init(queue: OperationQueue, capacity: Int) {
    self.queue = queue
    id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    waiting = Locked(Waiting())
    let id = id
    let wake: @Sendable () -> Void = { [weak self] in self?.wake() }
    queue.core.withScheduler { scheduler, _ in
      scheduler.monitor.subscriptions.append(
        QueueMonitor.Subscription(id: id, capacity: capacity, wake: wake))
    }
  }

  deinit {
    let id = id
    queue.core.withScheduler { scheduler, _ in
      scheduler.monitor.subscriptions.removeAll { $0.id == id }
    }
  }

  func takeChanges() -> [OperationStateChange] {
    let id = id
    return queue.core.withScheduler { scheduler, _ in
      scheduler.monitor.takeChanges(of: id)
    }
  }

  /// Returns when there may be changes, or when the task is cancelled.
  func waitForChanges() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mayGo = waiting.withLock { waiting in
          // A cancellation from before this may have found another task waiting and woken that.
          if waiting.hasNews || Task.isCancelled {
            waiting.hasNews = false
            return true
          }
          waiting.continuations.append(continuation)
          return false
        }
        if mayGo { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
  }

  private func wake() {
    let continuations = waiting.withLock { waiting in
      if waiting.continuations.isEmpty { waiting.hasNews = true }
      defer { waiting.continuations = [] }
      return waiting.continuations
    }
    for continuation in continuations { continuation.resume() }
  }
}

/// One step of one operation in a queue: a value, never the operation itself.
public struct OperationStateChange: Sendable, Equatable {
  /// The operation; see `Operation.id`.
  public let operation: OperationID
  /// The queue that it is in.
  public let queue: QueueID
  /// The state before; `nil` where the operation was added.
  public let oldState: OperationState?
  /// The state after. The same as `oldState` where it was cancelled.
  public let newState: OperationState
  /// Whether the operation was cancelled by then.
  public let isCancelled: Bool
  /// When the queue took note of it, on the monotonic clock.
  public let time: DispatchTime
  /// How many changes this subscriber has lost between the one before and this one, because it did
  /// not take them in time.
  public let lost: Int
}
