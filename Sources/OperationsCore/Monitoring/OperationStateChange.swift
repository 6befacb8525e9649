// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch

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
