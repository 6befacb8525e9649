// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// The state changes of a queue's operations, in order. See
/// ``OperationQueueSupplement/stateChanges(bufferingOldest:)``.
public struct OperationStateChanges: AsyncSequence, Sendable {
  /// The elements of the sequence are state changes of operations.
  public typealias Element = OperationStateChange

  /// The type of the errors of the sequence: `Never`, because the sequence of state changes never
  /// fails.
  public typealias Failure = Never

  let subscription: StateChangeSubscription

  /// Creates an iterator. If there are several iterators, each change goes to one of them.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

  /// An iterator that returns the state changes one by one.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: StateChangeSubscription
    private var taken: ArraySlice<OperationStateChange> = []

    init(subscription: StateChangeSubscription) { self.subscription = subscription }

    /// Waits for the next state change, and returns it. Returns `nil` after the task is cancelled.
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
  ///   Further changes are dropped, and the `droppedCount` property of the first change after the gap is
  ///   their number.
  /// - Returns: A sequence that ends only when the task that reads it is cancelled.
  public func stateChanges(
    bufferingOldest capacity: Int = 8_192
  ) -> OperationStateChanges {
    OperationStateChanges(
      subscription: StateChangeSubscription(queue: self, capacity: max(1, capacity)))
  }
}

/// One subscriber of a queue's state changes. It ends its subscription when it is released.
final class StateChangeSubscription: Sendable {
  private struct Waiting {
    /// The continuations of the tasks that wait for changes. There are several if several tasks
    /// read the sequence.
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

  /// Waits until there may be new state changes, or until the task is cancelled.
  func waitForChanges() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mayGo = waiting.withLock { waiting in
          // If this task was cancelled before it waits, the cancellation may have woken another
          // waiting task instead. So the task checks whether it is cancelled.
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

  /// Resumes the tasks that wait for state changes.
  private func wake() {
    let continuations = waiting.withLock { waiting in
      if waiting.continuations.isEmpty { waiting.hasNews = true }
      defer { waiting.continuations = [] }
      return waiting.continuations
    }
    let resume: @Sendable () -> Void = {
      for continuation in continuations { continuation.resume() }
    }
    // When this thread resumes a task, the executor of the task may run the task on this thread. A
    // worker that is about to start an operation must not run the code of the user, so another
    // thread resumes the tasks.
    if CurrentWork.isBetweenOperations, !continuations.isEmpty {
      OperationQueue.completions.addOperation(resume)
    } else {
      resume()
    }
  }
}

/// One state change of one operation in a queue. This value does not retain the operation.
public struct OperationStateChange: Sendable, Equatable {
  /// The id of the operation whose state changed; see `Operation.id`.
  public let operation: OperationID
  /// The id of the queue that contains the operation; see `OperationQueue.id`.
  public let queue: QueueID
  /// The state before the change; `nil` if the change is the addition of the operation.
  public let oldState: OperationState?
  /// The state after the change. It is equal to `oldState` if the change is a cancellation.
  public let newState: OperationState
  /// Whether the operation was cancelled when the change was made.
  public let isCancelled: Bool
  /// Whether the operation has finished with an error and was not cancelled.
  public let hasFailed: Bool
  /// When the queue processed the change, on the monotonic clock.
  public let time: DispatchTime
  /// The number of changes between the previous change and this one that were dropped, because the
  /// subscriber did not read them in time.
  public let droppedCount: Int
}

extension QueueMonitor {
  /// One subscriber's buffer of state changes.
  struct Subscription {
    let id: UInt64
    let capacity: Int
    let wake: @Sendable () -> Void
    var changes: [OperationStateChange] = []
    /// The number of changes that were dropped after the last change in `changes`.
    var droppedCount = 0
    /// Whether the subscriber was woken and has not taken the changes since then. In that case it
    /// is not woken again.
    var isWoken = false
  }
}

extension QueueMonitor {
  /// Removes and returns a subscriber's changes. The next change wakes the subscriber again.
  mutating func takeChanges(of id: UInt64) -> [OperationStateChange] {
    guard let index = subscriptions.firstIndex(where: { $0.id == id }) else { return [] }
    defer {
      subscriptions[index].changes = []
      subscriptions[index].isWoken = false
    }
    return subscriptions[index].changes
  }

  /// Stores a change for each subscriber.
  mutating func publish(
    _ operation: Operation, _ old: OperationState?, _ new: OperationState,
    _ status: OperationStatus, _ now: Int64
  ) {
    for index in subscriptions.indices {
      // If the buffer is full, new changes are dropped, so that the stored changes have no gap. The
      // next stored change contains the number of dropped changes.
      if subscriptions[index].changes.count >= subscriptions[index].capacity {
        subscriptions[index].droppedCount += 1
        continue
      }
      subscriptions[index].changes.append(
        OperationStateChange(
          operation: operation.id, queue: queue, oldState: old, newState: new,
          isCancelled: status.isCancelled,
          hasFailed: new == .finished && operation.hasFailed(status),
          time: DispatchTime(uptimeNanoseconds: UInt64(now)),
          droppedCount: subscriptions[index].droppedCount))
      subscriptions[index].droppedCount = 0
    }
  }
}
