// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The exclusive state of one operation as a monitor shows it.
///
/// The raw value is the word used in JSON and in filters.
public enum OperationState: String, Codable, Sendable, CaseIterable {
  /// Not ready: a dependency has not finished, or its own `isReady` is `false`.
  case waiting
  /// Ready, and waiting for a free slot of its queue.
  case ready
  /// Ready, but its queue is suspended. Counted within ready.
  case held
  /// Started and not yet finished.
  case executing
  /// Cancelled and not yet finished. Counted as executing if it has started; otherwise as ready,
  /// because a cancelled operation does not wait for its dependencies.
  case cancelling
  /// Finished without having been cancelled.
  case finished
  /// Finished after having been cancelled.
  case cancelled

  /// Whether the operation is finished or cancelled.
  public var isOver: Bool { self == .finished || self == .cancelled }
}
