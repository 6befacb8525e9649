// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Where an operation is within its queue. Guarded by the queue's lock.
struct QueuePlace {
  /// How far the queue has got with an operation.
  enum Stage: UInt8, Equatable, Sendable {
    /// Not taken out of the inbox yet.
    case outside
    /// Held up: by dependencies, or by its own `isReady`.
    case waiting
    /// In one of the bands.
    case ready
    /// Chosen to be started; holds a slot until it has finished.
    case executing
    /// Has left the queue, but is once more on its way through the inbox.
    case lingering
    /// Has left for good.
    case gone
  }

  var inQueue = Neighbours()
  var inBand = Neighbours()
  var record: OperationRecord?
  var stage = Stage.outside
  /// The band that it is in, while `stage` is `ready`.
  var band: UInt8 = 0
  /// Whether it was counted among the cancelled ones that have not finished.
  var isCountedAsCancelling = false
  /// Whether it is a barrier: neither counted nor listed, and kept in `BarrierLine`.
  var isBarrier = false
  /// Which of the queue's segments it is in: how many barriers, ever, were added before it.
  ///
  /// Wraps around, so that it takes no more room; two are never so far apart at the same time.
  var segment: UInt32 = 0

  /// The links of one list. Unmanaged, because the queue retains each operation exactly once.
  struct Neighbours {
    var previous: Unmanaged<Operation>?
    var next: Unmanaged<Operation>?
  }
}
