// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
import Synchronization

/// One operation of a ``QueueSnapshot``: a value, which keeps nothing alive.
public struct OperationSnapshot: Sendable, Identifiable {
  /// Identifies the operation; see `Operation.id`.
  public let id: OperationID
  /// Its name; `nil` for none.
  public let name: String?
  /// Its class.
  public let type: Operation.Type
  /// How far the queue has got with it. `executing` means that it has a slot, and may be so for a
  /// moment before `start()` and after the end.
  public let state: OperationState
  /// Whether the queue knows that it was cancelled.
  public let isCancelled: Bool
  /// Whether it is a block of ``OperationQueue/addBarrierBlock(_:)``, which no count counts.
  public let isBarrier: Bool
  /// Its priority.
  public let queuePriority: Operation.QueuePriority
  /// Its quality of service.
  public let qualityOfService: QualityOfService
  /// The operations that it depends on, in the order in which they were added.
  public let dependencies: [OperationID]
  /// Those of them that have not finished. They hold it up while it is `waiting`; not if it was
  /// cancelled, nor if its own `isReady` does not mind them.
  public let unmetDependencies: [OperationID]
  /// How many others would be started before it, if nothing changed; 0 for the next one. `nil`
  /// unless it is `ready`.
  public let readyPosition: Int?
  /// How many barriers that have not finished were added before it, each of which it has to wait for.
  /// For a barrier itself, which waits for everything that was added before, 0.
  public let barriersAhead: Int
  /// When it was added; known only where a monitor watched then.
  public let added: DispatchTime?
  /// When it became ready; known only where a monitor watched then.
  public let becameReady: DispatchTime?
  /// When it was given a slot; known only where a monitor watched then.
  public let started: DispatchTime?

  /// Takes the operation's lock for a moment, and that of nothing else.
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
