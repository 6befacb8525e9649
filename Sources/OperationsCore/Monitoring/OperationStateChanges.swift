// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// The state changes of a queue's operations, in order. See
/// ``OperationQueueSupplement/stateChanges(bufferingOldest:)``.
public struct OperationStateChanges: AsyncSequence, Sendable {
  /// One state change of one operation.
  public typealias Element = OperationStateChange

  /// The sequence never fails.
  public typealias Failure = Never

  let subscription: StateChangeSubscription

  /// Creates an iterator. Several iterators share the changes.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

  /// Returns the changes one by one.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: StateChangeSubscription
    private var taken: ArraySlice<OperationStateChange> = []

    init(subscription: StateChangeSubscription) { self.subscription = subscription }

    /// Waits for the next change. Returns `nil` after the task is cancelled.
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
  /// Subscribes to the states of this queue's operations: one value for each state change of each
  /// operation, in the order in which the queue processes them.
  ///
  /// The subscription begins with this call and ends when the sequence and its iterators are
  /// released. The queue stays alive until then. Earlier changes are not included. The sequence has
  /// only values, and does not extend the life of an operation.
  ///
  /// - Parameter capacity: The maximum number of changes that are kept for a slow subscriber.
  ///   Further ones are lost, and the first change after the gap has their number as `lost`.
  /// - Returns: A sequence that ends only with the task that reads it.
  public func stateChanges(
    bufferingOldest capacity: Int = 8_192
  ) -> OperationStateChanges {
    OperationStateChanges(
      subscription: StateChangeSubscription(queue: self, capacity: max(1, capacity)))
  }
}

/// One subscriber. It ends its subscription when it is released.
final class StateChangeSubscription: Sendable {
  private struct Waiting {
    /// Several, if several tasks read.
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
          // An earlier cancellation may have found another waiting task and woken that.
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

/// One state change of one operation in a queue. This is a value and has no reference to the
/// operation.
public struct OperationStateChange: Sendable, Equatable {
  /// The operation; see `Operation.id`.
  public let operation: OperationID
  /// The queue; see `OperationQueue.id`.
  public let queue: QueueID
  /// The state before; `nil` if the operation was added.
  public let oldState: OperationState?
  /// The state after the change. Equal to `oldState` if the operation was cancelled.
  public let newState: OperationState
  /// Whether the operation was cancelled by then.
  public let isCancelled: Bool
  /// When the queue processed the change, on the monotonic clock.
  public let time: DispatchTime
  /// The number of changes that this subscriber has lost between the previous one and this one,
  /// because it did not read them in time.
  public let lost: Int
}
