// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// One operation of a ``QueueSnapshot``. A snapshot is a value, which keeps no operation alive.
public struct OperationSnapshot: Sendable, Identifiable {
  /// Identifies the operation; see `Operation.id`.
  public let id: OperationID
  /// The operation's name; `nil` if it has none.
  public let name: String?
  /// The operation's class.
  public let type: Operation.Type
  /// The operation's state in the queue. `executing` means that the operation holds a slot, which
  /// it also does for a moment before `start()` and after its end.
  public let state: OperationState
  /// Whether the queue knows that the operation was cancelled.
  public let isCancelled: Bool
  /// Whether the operation is a block of ``OperationQueue/addBarrierBlock(_:)``. Such a block is
  /// not included in counts.
  public let isBarrier: Bool
  /// The operation's priority in its queue.
  public let queuePriority: Operation.QueuePriority
  /// The operation's quality of service.
  public let qualityOfService: QualityOfService
  /// The dependencies of the operation, in the order in which they were added.
  public let dependencies: [OperationID]
  /// The dependencies that have not finished. They block the operation while it is `waiting`, but
  /// not if it was cancelled, or if its own `isReady` ignores them.
  public let unmetDependencies: [OperationID]
  /// The number of operations that start before this operation, if nothing changes. It is 0 for the
  /// next operation that starts, and `nil` unless this operation is `ready`.
  public let readyPosition: Int?
  /// The number of unfinished barriers that were added before this operation, which waits for all
  /// of them. It is 0 for a barrier, which waits for everything that was added before it.
  public let barriersAhead: Int
  /// When the operation was added; `nil` unless a monitor watched the queue at that time.
  public let added: DispatchTime?
  /// When the operation became ready; `nil` unless a monitor watched the queue at that time.
  public let becameReady: DispatchTime?
  /// When the operation got a slot; `nil` unless a monitor watched the queue at that time.
  public let started: DispatchTime?

  /// Creates a snapshot of an operation. It acquires the operation's lock for a moment, and no
  /// other lock.
  init(_ entry: QueueContents.Entry, readyPosition: Int?) {
    let operation = entry.operation
    id = operation.id
    name = operation.givenName
    type = Swift.type(of: operation)
    state = entry.state
    isCancelled = entry.isCancelled
    isBarrier = entry.isBarrier
    queuePriority = operation.priority
    qualityOfService = operation.givenQualityOfService
    let all = operation.listedDependencies
    dependencies = all.map(\.id)
    unmetDependencies = all.filter { !$0.status.load(ordering: .acquiring).isFinished }.map(\.id)
    self.readyPosition = readyPosition
    barriersAhead = entry.barriersAhead
    added = entry.added.map(DispatchTime.init(monotonicNanoseconds:))
    becameReady = entry.becameReady.map(DispatchTime.init(monotonicNanoseconds:))
    started = entry.started.map(DispatchTime.init(monotonicNanoseconds:))
  }
}

extension DispatchTime {
  init(monotonicNanoseconds: Int64) {
    self.init(uptimeNanoseconds: UInt64(clamping: monotonicNanoseconds))
  }
}
