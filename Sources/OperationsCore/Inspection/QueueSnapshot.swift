// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The contents of a queue at one moment. A snapshot is a value, which keeps no queue and no
/// operation alive.
public struct QueueSnapshot: Sendable, Identifiable {
  /// The number of operations in each state. `waiting + ready + executing + finished + cancelled`
  /// is `total`. Barriers are not counted.
  public struct Counts: Sendable, Equatable {
    /// The number of operations that wait for dependencies or for their own `isReady`.
    public internal(set) var waiting = 0
    /// The number of operations that are ready and have not started.
    public internal(set) var ready = 0
    /// The number of operations that hold a slot.
    public internal(set) var executing = 0
    /// The number of operations that were cancelled and have not finished. They are also counted as
    /// `waiting`, `ready` or `executing`.
    public internal(set) var cancelling = 0
    /// The number of all operations that finished without having been cancelled.
    public internal(set) var finished = 0
    /// The number of all operations that finished with an error without having been cancelled. They
    /// are also counted as `finished`.
    public internal(set) var failed = 0
    /// The number of all operations that finished after having been cancelled.
    public internal(set) var cancelled = 0
    /// The number of all operations that were ever added.
    public internal(set) var total = 0

    /// The number of operations that have not left the queue.
    package var unfinished: Int { waiting + ready + executing }

    /// Creates a value with the number of operations in each state.
    package init(
      waiting: Int = 0, ready: Int = 0, executing: Int = 0, cancelling: Int = 0, finished: Int = 0,
      failed: Int = 0, cancelled: Int = 0, total: Int = 0
    ) {
      self.waiting = waiting
      self.ready = ready
      self.executing = executing
      self.cancelling = cancelling
      self.finished = finished
      self.failed = failed
      self.cancelled = cancelled
      self.total = total
    }

    /// Counts an operation that leaves the queue and was not cancelled.
    @inline(__always)
    mutating func countFinish(hasFailed: Bool) {
      finished += 1
      if hasFailed { failed += 1 }
    }
  }

  /// Identifies the queue.
  public let id: QueueID
  /// The queue's name, or the default name if none was set.
  public let name: String
  /// The maximum number of operations that execute at once; −1 if the system decides.
  public let maxConcurrentOperationCount: Int
  /// Whether the queue was suspended.
  public let isSuspended: Bool
  /// Whether the queue was closed by `shutdown(_:)`.
  public let isClosed: Bool
  /// The maximum number of operations that the queue starts in a period; `nil` for no limit.
  public let startLimit: OperationStartLimit?
  /// The number of operations in each state.
  public let counts: Counts
  /// The operations and barriers that had not left the queue, in the order in which they were
  /// added.
  public let operations: [OperationSnapshot]
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Returns the contents of the queue at this moment, for debugging.
  ///
  /// The snapshot is consistent: the operations, their states, their order, the counts, the width
  /// and the suspension are all from the same moment. Names, priorities, quality of service and
  /// dependencies are read directly afterwards, one operation at a time, and may be newer.
  ///
  /// This method can be called on any thread, also inside an operation. It calls no code of a
  /// subclass. Its time and memory are proportional to the number of operations in the queue. For a
  /// part of that time, about ten nanoseconds per operation, the queue starts and finishes no
  /// operation, so do not call it for every operation. To follow a queue, use
  /// ``stateChanges(bufferingOldest:)``.
  public func snapshot() -> QueueSnapshot {
    let (contents, counts, width, limiter, isSuspended, isClosed, givenName) = core.withScheduler {
      scheduler, _ in
      (
        scheduler.contents, scheduler.counts, scheduler.maxConcurrentOperationCount,
        scheduler.limiter, scheduler.isSuspended, scheduler.isClosed, scheduler.name
      )
    }
    var positions: [UnsafeMutableRawPointer: Int] = [:]
    positions.reserveCapacity(contents.readyOrder.count)
    for (position, operation) in contents.readyOrder.enumerated() {
      positions[operation] = position
    }
    return QueueSnapshot(
      id: id, name: givenName.isEmpty ? defaultName : givenName,
      maxConcurrentOperationCount: width, isSuspended: isSuspended, isClosed: isClosed,
      startLimit: limiter?.limit, counts: counts,
      operations: contents.entries.map { entry in
        let address = Unmanaged.passUnretained(entry.operation).toOpaque()
        return OperationSnapshot(entry, readyPosition: positions[address])
      })
  }
}

/// The contents of a queue at one moment.
struct QueueContents {
  /// The data about one operation or barrier that the queue's lock guards. It is a part of an
  /// ``OperationSnapshot``.
  struct Entry {
    let operation: Operation
    let state: OperationState
    let isBarrier: Bool
    let isCancelled: Bool
    /// The number of unfinished barriers that the operation must wait for; 0 for a barrier.
    let barriersAhead: Int
    /// The time at which the operation was added; `nil` unless a collector recorded at that time.
    var added: Int64?
    var becameReady: Int64?
    var started: Int64?
  }

  /// The operations and barriers, in the order of addition.
  var entries: [Entry] = []
  /// The ready operations, in the order in which they would start.
  var readyOrder: [UnsafeMutableRawPointer] = []
}
