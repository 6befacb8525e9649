// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a queue held at one moment: a value, which keeps nothing alive.
public struct QueueSnapshot: Sendable, Identifiable {
  /// How many operations were in each state. `waiting + ready + executing + finished + cancelled` is
  /// `total`. Barriers are not counted.
  public struct Counts: Sendable, Equatable {
    /// Held up by dependencies, or by their own `isReady`.
    public let waiting: Int
    /// Ready, and not started.
    public let ready: Int
    /// With a slot.
    public let executing: Int
    /// Cancelled and not finished; these are among the three above.
    public let cancelling: Int
    /// Finished without having been cancelled, ever.
    public let finished: Int
    /// Finished after having been cancelled, ever.
    public let cancelled: Int
    /// Added, ever.
    public let total: Int
  }

  /// Identifies the queue.
  public let id: QueueID
  /// Its name, or the one made from its id.
  public let name: String
  /// How many operations may run at once; −1 where the system decides.
  public let maxConcurrentOperationCount: Int
  /// Whether it started nothing new.
  public let isSuspended: Bool
  /// How many operations were in each state.
  public let counts: Counts
  /// The operations that had not left, and the barriers among them, in the order of addition.
  public let operations: [OperationSnapshot]
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// What the queue holds at this moment, for people who want to know what it is doing.
  ///
  /// One picture: which operations there are, in which states, in what order, the counts, the width
  /// and whether it is suspended are all of the same moment, so that they add up. Names, priorities,
  /// quality of service and dependencies are read right after it, one operation at a time, and may
  /// be newer.
  ///
  /// On any thread, inside an operation too; nothing of a subclass's is called. Takes time and memory
  /// in proportion to what the queue holds, and for a part of that time, some ten nanoseconds for
  /// each operation, the queue starts and finishes nothing: not for every operation. To follow a
  /// queue, use ``stateChanges(bufferingOldest:)``.
  public func snapshot() -> QueueSnapshot {
    let (contents, counts, width, isSuspended, givenName) = core.withScheduler { scheduler, _ in
      (
        scheduler.contents, scheduler.counts, scheduler.maxConcurrentOperationCount,
        scheduler.isSuspended, scheduler.name
      )
    }
    var positions: [UnsafeMutableRawPointer: Int] = [:]
    positions.reserveCapacity(contents.readyOrder.count)
    for (position, operation) in contents.readyOrder.enumerated() {
      positions[operation] = position
    }
    return QueueSnapshot(
      id: id, name: givenName.isEmpty ? defaultName : givenName,
      maxConcurrentOperationCount: width, isSuspended: isSuspended,
      counts: QueueSnapshot.Counts(counts),
      operations: contents.entries.map { entry in
        let address = Unmanaged.passUnretained(entry.operation).toOpaque()
        return OperationSnapshot(entry, readyPosition: positions[address])
      })
  }
}

extension QueueSnapshot.Counts {
  init(_ counts: QueueScheduler.Counts) {
    waiting = counts.waiting
    ready = counts.ready
    executing = counts.executing
    cancelling = counts.cancelling
    finished = counts.finished
    cancelled = counts.cancelled
    total = counts.total
  }
}

/// What a queue holds, as it was at one moment.
struct QueueContents {
  /// One operation or barrier.
  struct Entry {
    let operation: Operation
    let state: OperationState
    let isBarrier: Bool
    let isCancelled: Bool
    /// How many barriers that have not finished it has to wait for. 0 for a barrier itself.
    let barriersAhead: Int
    /// Known while somebody records.
    var added: Int64?
    var becameReady: Int64?
    var started: Int64?
  }

  /// In the order of addition.
  var entries: [Entry] = []
  /// What is ready, in the order in which it would be started.
  var readyOrder: [UnsafeMutableRawPointer] = []
}
