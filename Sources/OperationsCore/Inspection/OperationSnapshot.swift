// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// One operation of a ``QueueSnapshot``. This is a value, which keeps nothing alive.
public struct OperationSnapshot: Sendable, Identifiable {
  /// Identifies the operation; see `Operation.id`.
  public let id: OperationID
  /// Its name; `nil` if it has none.
  public let name: String?
  /// Its class.
  public let type: Operation.Type
  /// Its state in the queue. `executing` means that it holds a slot, which is also true for a
  /// moment before `start()` and after the end.
  public let state: OperationState
  /// Whether the queue knows that it was cancelled.
  public let isCancelled: Bool
  /// Whether it is a block of ``OperationQueue/addBarrierBlock(_:)``, which is not included in
  /// counts.
  public let isBarrier: Bool
  /// Its priority.
  public let queuePriority: Operation.QueuePriority
  /// Its quality of service.
  public let qualityOfService: QualityOfService
  /// The operations that it depends on, in the order in which they were added.
  public let dependencies: [OperationID]
  /// The dependencies that have not finished. They block the operation while it is `waiting`, but
  /// not if it was cancelled, or if its own `isReady` ignores them.
  public let unmetDependencies: [OperationID]
  /// The number of operations that start before it, if nothing changes; 0 for the next one. `nil`
  /// unless it is `ready`.
  public let readyPosition: Int?
  /// The number of unfinished barriers that were added before it, all of which it must wait for. 0
  /// for a barrier itself, which waits for everything that was added before.
  public let barriersAhead: Int
  /// When it was added; known only if a monitor watched at that time.
  public let added: DispatchTime?
  /// When it became ready; known only if a monitor watched at that time.
  public let becameReady: DispatchTime?
  /// When it got a slot; known only if a monitor watched at that time.
  public let started: DispatchTime?

  /// Takes the operation's lock for a moment, and no other lock.
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
